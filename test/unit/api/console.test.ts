import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import request from "supertest";
import { roleNamed, unauthorized } from "../../../src/authentication/authentication";
import { ConsoleConfig } from "../../../src/domain/console-config";
import { type ApiUnderTest, expectError, startApiUnderTest } from "./api-under-test";

const script = `console.log("${"upgrade ".repeat(200)}");`;
const signIn = {
  issuer: "https://login.example.com/realms/ops",
  clientId: "console",
  scope: "openid",
  audience: "ums",
};

describe("the console's files", () => {
  const folder = mkdtempSync(join(tmpdir(), "ums-console-"));
  let api: ApiUnderTest;
  before(async () => {
    writeFileSync(join(folder, "index.html"), "<!doctype html><title>Upgrades</title>");
    writeFileSync(join(folder, "console-AB12CD34.js"), script);
    writeFileSync(join(folder, "secret.txt"), "not of the page");
    api = await startApiUnderTest({
      console: { folder, temporalNamespace: "default", temporalUiUrl: "http://temporal.example:8233" },
    });
  });
  after(async () => {
    await api.close();
    rmSync(folder, { recursive: true });
  });

  const get = (path: string) => request(api.url).get(path);

  it("are there without credentials, under a policy that allows nothing inside the page and no other host", async () => {
    for (const [path, type] of [
      ["/", "text/html; charset=utf-8"],
      ["/console/console-AB12CD34.js", "text/javascript; charset=utf-8"],
    ] as const) {
      const { status, headers } = await get(path);
      expect([status, headers["content-type"]], path).to.deep.equal([200, type]);
      expect(headers["x-content-type-options"]).to.equal("nosniff");
      expect(headers["referrer-policy"]).to.equal("no-referrer");
      expect(String(headers["content-security-policy"]).split("; ")).to.have.members([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]);
    }
  });

  it("may also ask the issuer that people sign in at, and no other host", async () => {
    const other = await startApiUnderTest({ console: { folder, temporalNamespace: "default", signIn } });
    try {
      const { headers } = await request(other.url).get("/");
      expect(headers["content-security-policy"])
        .to.contain("connect-src 'self' https://login.example.com;")
        .and.contain("default-src 'none'");
      expect((await request(other.url).get("/console-config.json")).body).to.deep.include({ signIn });
    } finally {
      await other.close();
    }
  });

  it("are kept for ever under names that tell their content, and asked for again under those that do not", async () => {
    for (const [path, kept] of [
      ["/", "no-cache"],
      ["/console/console-AB12CD34.js", "public, max-age=31536000, immutable"],
    ] as const) {
      const { headers } = await get(path);
      expect(headers["cache-control"], path).to.equal(kept);
      const again = await get(path).set("if-none-match", String(headers["etag"]));
      expect([again.status, again.headers["cache-control"], again.text], path).to.deep.equal([304, kept, ""]);
    }
  });

  it("come compressed to those who take it, and as they are to others", async () => {
    const path = "/console/console-AB12CD34.js";
    const plain = await get(path).set("accept-encoding", "identity");
    expect(plain.headers).to.not.have.property("content-encoding");
    expect(plain.text).to.equal(script);
    const gzip = await get(path).set("accept-encoding", "gzip, br;q=0");
    expect([gzip.headers["content-encoding"], gzip.headers["vary"], gzip.text]).to.deep.equal([
      "gzip",
      "accept-encoding",
      script,
    ]);
    const brotli = await fetch(api.url + path, { headers: { "accept-encoding": "br" } });
    expect(brotli.headers.get("content-encoding")).to.equal("br");
    expect(await brotli.text()).to.equal(script);
    expect(Number(gzip.headers["content-length"])).to.be.below(script.length / 2);
  });

  it("are no way to other files", async () => {
    for (const path of [
      "/console/index.html",
      "/console/secret.txt",
      "/console/..%2fpackage.json",
      "/console/",
      "/console/style.css",
    ])
      expectError(await get(path), 404, "PATH_NOT_FOUND");
  });

  it("answer an Error where the console is not built", async () => {
    const unbuilt = await startApiUnderTest({
      console: { folder: join(folder, "none"), temporalNamespace: "default" },
    });
    try {
      expectError(await request(unbuilt.url).get("/"), 500, "INTERNAL_ERROR");
    } finally {
      await unbuilt.close();
    }
  });

  it("come with what the page has to know first", async () => {
    const { body } = await get("/console-config.json");
    expect(ConsoleConfig.is(body)).to.equal(true);
    expect(body).to.deep.equal({
      authenticationMode: "dev",
      temporalNamespace: "default",
      temporalUiUrl: "http://temporal.example:8233",
    });
  });

  it("say who has signed in, and whether that role may do anything", async () => {
    const guarded = await startApiUnderTest({
      console: { folder, temporalNamespace: "default" },
      authentication: {
        mode: "local",
        authenticate: (header) =>
          header === undefined
            ? TE.left(unauthorized("There is no token.", "Send one."))
            : TE.right({ caller: "alice", role: roleNamed(header) }),
      },
    });
    const session = (role: string) => request(guarded.url).get("/console-session.json").set("authorization", role);
    try {
      for (const [role, mayOperate, mayApprove] of [
        ["VIEWER", false, false],
        ["OPERATOR", true, false],
        ["APPROVER", true, true],
        ["ADMIN", true, true],
      ] as const)
        expect((await session(role)).body).to.deep.equal({ caller: "alice", role, mayOperate, mayApprove });
      expectError(await session("stranger"), 403, "ROLE_REQUIRED");
      expectError(await request(guarded.url).get("/console-session.json"), 403, "Unauthorized");
    } finally {
      await guarded.close();
    }
  });
});
