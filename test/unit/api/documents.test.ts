import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import request from "supertest";
import { type ApiUnderTest, expectError, startApiUnderTest } from "./api-under-test";

describe("the documents at /docs", () => {
  const folder = mkdtempSync(join(tmpdir(), "ums-documents-"));
  let api: ApiUnderTest;
  before(async () => {
    for (const name of ["decisions", "images"]) mkdirSync(join(folder, name));
    for (const name of ["index.html", "operating.html", "decisions/0001.html", "images/list.png", "style.css"])
      writeFileSync(join(folder, name), `content of ${name}`);
    api = await startApiUnderTest({ documents: folder, authentication: { mode: "local" } });
  });
  after(async () => {
    await api.close();
    rmSync(folder, { recursive: true });
  });

  const get = (path: string) => request(api.url).get(path).buffer(true);

  it("are there without credentials, under a policy that runs no script and asks no other host", async () => {
    for (const [path, type, file] of [
      ["/docs", "text/html; charset=utf-8", "index.html"],
      ["/docs/operating", "text/html; charset=utf-8", "operating.html"],
      ["/docs/decisions/0001", "text/html; charset=utf-8", "decisions/0001.html"],
      ["/docs/images/list.png", "image/png", "images/list.png"],
      ["/docs/style.css", "text/css; charset=utf-8", "style.css"],
    ] as const) {
      const { status, headers, text, body } = await get(path);
      expect([status, headers["content-type"]], path).to.deep.equal([200, type]);
      expect(type === "image/png" ? String(body) : text).to.equal(`content of ${file}`);
      expect(String(headers["content-security-policy"]).split("; ")).to.have.members([
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]);
    }
  });

  it("are read again only where they have changed", async () => {
    const { headers } = await get("/docs/operating");
    expect(headers["cache-control"]).to.equal("no-cache");
    expect((await get("/docs/operating").set("if-none-match", String(headers["etag"]))).status).to.equal(304);
  });

  it("are no way to other files", async () => {
    for (const path of ["/docs/none", "/docs/..%2fpackage", "/docs/decisions/none", "/docs/images/..%2findex.html"])
      expectError(await get(path), 404, "PATH_NOT_FOUND");
  });

  it("leave the API reference at its place", async () => {
    expect((await get("/docs/api")).text).to.contain("swagger-ui");
  });

  it("answer an Error where they are not built", async () => {
    const unbuilt = await startApiUnderTest({ documents: join(folder, "none") });
    try {
      expectError(await request(unbuilt.url).get("/docs"), 500, "INTERNAL_ERROR");
    } finally {
      await unbuilt.close();
    }
  });
});
