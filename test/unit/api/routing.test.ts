import { expect } from "chai";
import request from "supertest";
import { allRoutes } from "../../../src/api/create-api";
import { devAuthentication } from "../../../src/authentication/dev-authentication";
import { expectError, fakeService, sendRaw, startApiUnderTest, type ApiUnderTest } from "./api-under-test";

const routes = allRoutes(fakeService({ started: [], listed: [], read: [], asked: [] }), "1", devAuthentication);

describe("routing", () => {
  let api: ApiUnderTest;
  before(async () => (api = await startApiUnderTest()));
  after(() => api.close());

  it("has every path with and without a trailing slash", async () => {
    for (const { method, path } of routes.filter((route) => route.method === "GET")) {
      const id = "6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11";
      const concrete = path.replace("{id}", id).replace("{precheckId}", `${id}-prechecks-1`);
      for (const variant of [concrete, `${concrete}/`]) {
        expect((await request(api.url).get(variant)).status, `${method} ${variant}`).to.equal(200);
      }
    }
    expectError(await request(api.url).post("/v1/upgrades/"), 403, "Unauthorized");
  });

  for (const path of [
    "/",
    "/v1",
    "/v1/upgrades/a/b",
    "/V1/upgrades",
    "/v1/Upgrades",
    "//v1/upgrades",
    "/v2/upgrades",
  ]) {
    it(`answers 404 to ${path}`, async () => {
      expectError(
        (await sendRaw(api.port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`))[0]!,
        404,
        "PATH_NOT_FOUND",
      );
    });
  }

  for (const [path, code] of [
    ["/v1/%00", "MALFORMED_URL"],
    ["/v1/upgrades/%00", "MALFORMED_URL"],
    ["/v1/upgrades/%0d%0a", "MALFORMED_URL"],
    ["/v1/upgrades/%zz", "MALFORMED_URL"],
    ["/v1/upgrades/%ff", "MALFORMED_URL"],
    ["/v1/upgrades/%", "MALFORMED_URL"],
    ["/v1/upgrades?bundleId=%e0%a4", "MALFORMED_URL"],
    ["/v1/upgrades/%2e%2e", "UPGRADE_NOT_FOUND"],
    ["/v1/%2e%2e/upgrades", "PATH_NOT_FOUND"],
    ["/docs/%2e%2e%2fpackage.json", "PATH_NOT_FOUND"],
    ["/docs/../package.json", "PATH_NOT_FOUND"],
    ["/docs/index.html", "PATH_NOT_FOUND"],
    ["*", "PATH_NOT_FOUND"],
  ] as const) {
    it(`answers ${code} to ${path}`, async () => {
      const [answer] = await sendRaw(api.port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      expectError(answer!, code === "MALFORMED_URL" ? 400 : 404, code);
    });
  }

  for (const method of ["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"]) {
    it(`answers 405 with Allow to ${method}`, async () => {
      const [answer] = await sendRaw(
        api.port,
        `${method} /v1/upgrades HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-HTTP-Method-Override: GET\r\n\r\n`,
      );
      expectError(answer!, 405, "METHOD_NOT_ALLOWED");
      expect(answer!.headers["allow"]?.split(", ")).to.have.members(["GET", "HEAD", "POST", "OPTIONS"]);
    });
  }

  it("takes a path of its own for no id, whatever the method", async () => {
    for (const answer of [
      await request(api.url).patch("/v1/upgrades/preview"),
      await request(api.url).get("/v1/upgrades/preview/"),
    ]) {
      expectError(answer, 405, "METHOD_NOT_ALLOWED");
      expect(answer.headers["allow"]).to.equal("POST, OPTIONS");
    }
  });

  it("looks at the method before the credentials", async () => {
    expectError(await request(api.url).post("/v1/tasks/1"), 405, "METHOD_NOT_ALLOWED");
    expectError(await request(api.url).delete("/nothing"), 404, "PATH_NOT_FOUND");
  });

  it("answers HEAD like GET without a body", async () => {
    const [get, head] = [await request(api.url).get("/v1/upgrades"), await request(api.url).head("/v1/upgrades")];
    expect([head.status, head.headers["content-length"]]).to.deep.equal([200, get.headers["content-length"]]);
    expect(head.text).to.equal(undefined);
  });

  it("answers OPTIONS with the methods of the path", async () => {
    const answer = await request(api.url).options("/v1/tasks/1");
    expect([answer.status, answer.headers["allow"], answer.text]).to.deep.equal([
      204,
      "HEAD, GET, PATCH, DELETE, OPTIONS",
      "",
    ]);
    expectError(await request(api.url).options("/nothing"), 404, "PATH_NOT_FOUND");
  });

  it("lets no answer be kept, framed or guessed at, and does not name its software", async () => {
    for (const path of ["/v1/upgrades", "/nothing", "/health/live"]) {
      const { headers } = await request(api.url).get(path);
      expect(headers).to.include({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
      expect(headers["content-security-policy"]).to.contain("frame-ancestors 'none'");
      expect(headers).to.not.have.any.keys("x-powered-by", "server");
    }
  });
});
