import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import request from "supertest";
import { ConsoleConfig } from "../../../src/domain/console-config";
import { expectError, startApiUnderTest, type ApiUnderTest } from "./api-under-test";

describe("the console's files", () => {
  const folder = mkdtempSync(join(tmpdir(), "ums-console-"));
  let api: ApiUnderTest;
  before(async () => {
    writeFileSync(join(folder, "index.html"), "<!doctype html><title>Upgrades</title>");
    writeFileSync(join(folder, "console.js"), "1;");
    api = await startApiUnderTest({
      console: { folder, temporalNamespace: "default", temporalUiUrl: "http://temporal.example:8233" },
    });
  });
  after(async () => {
    await api.close();
    rmSync(folder, { recursive: true });
  });

  it("are there without credentials, under a policy that allows nothing inside the page and no other host", async () => {
    for (const [path, type] of [
      ["/", "text/html; charset=utf-8"],
      ["/console/console.js", "text/javascript; charset=utf-8"],
    ] as const) {
      const { status, headers } = await request(api.url).get(path);
      expect([status, headers["content-type"]], path).to.deep.equal([200, type]);
      expect(headers["content-security-policy"])
        .to.contain("default-src 'none'")
        .and.contain("script-src 'self'")
        .and.not.match(/unsafe|data:|https?:/);
    }
  });

  it("are no way to other files", async () => {
    for (const path of ["/console/index.html", "/console/..%2fpackage.json", "/console/"])
      expectError(await request(api.url).get(path), 404, "PATH_NOT_FOUND");
  });

  it("answer an Error where the build is not complete", async () => {
    expectError(await request(api.url).get("/console/style.css"), 500, "INTERNAL_ERROR");
  });

  it("come with what the page has to know first", async () => {
    const { body } = await request(api.url).get("/console-config.json");
    expect(ConsoleConfig.is(body)).to.equal(true);
    expect(body).to.deep.equal({
      authenticationMode: "dev",
      temporalNamespace: "default",
      temporalUiUrl: "http://temporal.example:8233",
    });
  });
});
