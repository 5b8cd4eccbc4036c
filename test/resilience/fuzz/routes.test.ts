import { expect } from "chai";
import { allRoutes } from "../../../src/api/create-api";
import { devAuthentication } from "../../../src/authentication/dev-authentication";
import type { PageOfUpgrade } from "../../../src/domain/spec/upgrade";
import { fakeService } from "../../unit/api/api-under-test";
import { useAttackedService } from "./use-attacked-service";

const routes = allRoutes(fakeService({ started: [], listed: [], read: [], asked: [] }), "1", devAuthentication);
const paths = [...new Set(routes.map(({ path }) => path)), "/codec/encode", "/codec/decode"];
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"];

/** What stands in a path where an id belongs, percent-encoded. */
const ids = [
  "6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11",
  ...[
    "..",
    "../..",
    "__proto__",
    "constructor",
    "\0",
    "\r\nX-Injected: 1",
    "' OR 1=1",
    '"',
    "\\",
    "*",
    "x".repeat(3000),
  ],
].map(encodeURIComponent);
const brokenIds = ["%2e%2e", "%2e%2e%2f%2e%2e", "%", "%zz", "%c0%ae", "%ed%a0%80", "%00", "."];

/** What could end a text of a query of Visibility, or mean all. */
const injections = [
  "' OR '1'='1",
  "' OR UpgradeStatus != '",
  '" OR "1"="1',
  "\\' OR 1=1 --",
  "\\",
  "'",
  "''",
  "%",
  "*",
  "x') OR ('1'='1",
  "x' ORDER BY StartTime",
  "\u0000",
  "\u202e",
  "x".repeat(4000),
];

describe("every route", function () {
  this.timeout(120_000);
  const service = useAttackedService("routes");

  it("answers every method and every id with what it has, or an Error", async () => {
    for (const path of paths)
      for (const id of path.includes("{") ? [...ids, ...brokenIds] : [""])
        for (const method of methods) {
          const headers = { authorization: "Bearer fuzz" };
          await service().ask("routes, methods and ids", { method, path: path.replaceAll(/\{\w+\}/g, id), headers });
        }
  });

  it("takes a filter as a text and never as a part of a query", async () => {
    const { id } = await service().startDraft();
    for (const path of ["/v1/upgrades", "/v1/tasks"])
      for (const name of ["status", "taskStatus", "bundleId", "bundleType", "resourceId", "pageNumber", "pageSize"])
        for (const value of injections) {
          const known = routes.find((route) => route.path === path && route.method === "GET")!.request.query;
          const query = `${name}=${encodeURIComponent(value)}`;
          const { status, text } = await service().ask("filters", { method: "GET", path: `${path}?${query}` });
          if (!(name in known)) expect(status, `${path} ${query}`).to.equal(200);
          else if (status === 200) expect((JSON.parse(text) as PageOfUpgrade).elements, query).to.deep.equal([]);
          const twice = await service().ask("filters", { method: "GET", path: `${path}?${query}&${query}` });
          expect(twice.status, `${path} ${query} twice`).to.equal(name in known ? 400 : 200);
        }
    await service().cancel(id);
  });
});
