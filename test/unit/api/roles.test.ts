import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import request from "supertest";
import { upgradeSpecExample } from "../../../src/api/openapi/examples";
import { allRoutes } from "../../../src/api/create-api";
import type { Route } from "../../../src/api/route";
import { type Role, roleCovers, roles, unauthorized } from "../../../src/authentication/authentication";
import { devAuthentication } from "../../../src/authentication/dev-authentication";
import { type ApiUnderTest, expectError, fakeService, startApiUnderTest } from "./api-under-test";

const table = allRoutes(fakeService({ started: [], listed: [], read: [], asked: [] }), "1", devAuthentication);
const named = (route: Route) => `${route.method} ${route.path}`;

describe("roles of the routes", () => {
  let api: ApiUnderTest;
  /** The value of the header is the role; `none` is good credentials without one. */
  before(async () => {
    api = await startApiUnderTest({
      authentication: {
        mode: "local",
        authenticate: (authorization) =>
          authorization === undefined
            ? TE.left(unauthorized("No.", "Log in."))
            : TE.right({ caller: "somebody", role: roles.find((role) => role === authorization) }),
      },
    });
  });
  after(() => api.close());

  const send = (route: Route, authorization?: string) => {
    const path = route.path.replaceAll(/\{\w+\}/g, "6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11");
    const asked = request(api.url)[route.method.toLowerCase() as Lowercase<Route["method"]>](path);
    if (authorization !== undefined) void asked.set("authorization", authorization);
    return asked;
  };
  /** Whatever a route makes of a request without a body, it was let through. */
  const isLetThrough = async (route: Route, authorization?: string) => {
    const { body } = (await send(route, authorization)) as { body: { errorCode?: string } | null };
    return !["Unauthorized", "ROLE_REQUIRED"].includes(body?.errorCode ?? "");
  };

  for (const route of table) {
    it(`${named(route)} asks for ${route.role}`, async () => {
      if (route.role === "ANYONE") return expect(await isLetThrough(route)).to.equal(true);
      expectError(await send(route), 403, "Unauthorized");
      expect(expectError(await send(route, "none"), 403, "ROLE_REQUIRED").message).to.contain(route.role);
      for (const role of roles) {
        expect(await isLetThrough(route, role), role).to.equal(roleCovers(role, route.role));
        if (!roleCovers(role, route.role))
          expect(expectError(await send(route, role), 403, "ROLE_REQUIRED").message)
            .to.contain(route.role)
            .and.contain(role);
      }
      return undefined;
    });
  }

  it("let only an ADMIN have an upgrade ignore maintenance windows", async () => {
    const override = { maintenanceWindow: "IGNORE", reason: "Zero-day" };
    const id = "6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11";
    const asked = (role: string) => [
      request(api.url)
        .post("/v1/upgrades")
        .set("authorization", role)
        .send({ ...upgradeSpecExample, ...override }),
      request(api.url)
        .post("/v1/upgrades/preview")
        .set("authorization", role)
        .send({ ...upgradeSpecExample, ...override }),
      request(api.url).patch(`/v1/upgrades/${id}`).set("authorization", role).send(override),
    ];
    for (const role of ["OPERATOR", "APPROVER"])
      for (const answer of asked(role)) {
        const { message } = expectError(await answer, 403, "ROLE_REQUIRED");
        expect(message).to.equal(
          `maintenanceWindow IGNORE needs the role ADMIN; your credentials have the role ${role}.`,
        );
      }
    for (const answer of asked("ADMIN")) expect((await answer).body).to.not.include({ errorCode: "ROLE_REQUIRED" });
  });

  it("are as the design has them: VIEWER reads, OPERATOR also changes, open is what needs no name", () => {
    for (const route of table) {
      if (route.access === "OPEN") expect(route.role, named(route)).to.equal("ANYONE");
      else expect(route.role, named(route)).to.not.equal("ANYONE");
      if (route.access === "READ") expect(route.role, named(route)).to.equal("VIEWER");
      if (route.method === "GET") expect(route.access, named(route)).to.not.equal("WRITE");
    }
    const open = table.filter(({ role, documented }) => role === "ANYONE" && documented !== false).map(named);
    // A route that joins this list is open to the world.
    expect(open).to.have.members([
      "POST /v1/tokens",
      "PATCH /v1/tokens/access-token/refresh",
      "DELETE /v1/tokens/refresh-token",
      "GET /health/live",
      "GET /health/ready",
      "GET /openapi.json",
    ]);
    expect(table.find((route) => named(route) === "POST /v1/upgrades")?.role).to.equal("OPERATOR");
  });

  it("name the caller in the log also where the role was not enough", async () => {
    const route = table.find(({ role }) => role === "OPERATOR")!;
    await send(route, "VIEWER");
    expect(api.logLines.at(-1)).to.include({ caller: "somebody", errorCode: "ROLE_REQUIRED" });
  });

  it("cover those before them", () => {
    const covered = (role: Role | undefined) => roles.filter((required) => roleCovers(role, required));
    expect(covered(undefined)).to.deep.equal([]);
    expect(covered("VIEWER")).to.deep.equal(["VIEWER"]);
    expect(covered("OPERATOR")).to.deep.equal(["VIEWER", "OPERATOR"]);
    expect(covered("APPROVER")).to.deep.equal(["VIEWER", "OPERATOR", "APPROVER"]);
    expect(covered("ADMIN")).to.deep.equal(["VIEWER", "OPERATOR", "APPROVER", "ADMIN"]);
  });
});
