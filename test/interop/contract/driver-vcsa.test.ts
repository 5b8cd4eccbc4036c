import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { Document } from "openapi-backend";
import { failureOf, succeed } from "../../unit/activities/simulated-cluster";
import {
  mgmtTarget,
  runStep,
  type SimulatedManagementServer,
  simulateManagementServer,
  startStep,
} from "../../unit/activities/simulated-management-server";
import { startValidatingProxy, type ValidatingProxy } from "./validating-proxy";

const document = JSON.parse(readFileSync(join(__dirname, "vcsa-update.openapi.json"), "utf8")) as Document;

describe("the appliance driver against its contract", function () {
  this.timeout(30_000);
  let server: SimulatedManagementServer;
  let proxy: ValidatingProxy;

  beforeEach(async () => {
    server = await simulateManagementServer();
    proxy = await startValidatingProxy({ target: server.url, document });
  });
  afterEach(async () => {
    await proxy.close();
    await server.close();
  });

  const activities = (limits = {}) => server.activities({ url: proxy.url, limits });
  /** The contract has no 503, and no 401 for the version; see docs/simulator.md. */
  const violations = () =>
    proxy.violations.filter(
      ({ status, call }) => status !== 503 && !(status === 401 && call === "GET /api/appliance/system/version"),
    );
  const expectCalled = (...calls: RegExp[]) => {
    for (const call of calls)
      expect(
        proxy.calls.some((made) => call.test(made)),
        String(call),
      ).to.equal(true);
  };

  it("keeps to it in an update in place, from the prechecks to the new version", async () => {
    const { target } = server;
    await server.fault({ kind: "MGMT_QUESTION_ASKED" });
    const { stages } = await succeed(() => activities().runMgmtPrechecks(target));
    expect(stages.filter(({ status }) => status !== "SUCCESSFUL")).to.deep.equal([]);
    await succeed(() => activities().readMgmtServer(target));
    await succeed(() => activities().stageMgmtUpdate(target));
    expect(await succeed(() => activities().installMgmtUpdate(target))).to.deep.equal({ version: mgmtTarget });
    expect(violations()).to.deep.equal([]);
    expectCalled(
      /source_type=/,
      /action=precheck/,
      /action=stage$/,
      /update\/staged/,
      /action=validate/,
      /action=install/,
    );
  });

  it("keeps to it in a migration, with a static network and with none", async () => {
    for (const temporaryNetwork of [server.target.temporaryNetwork, { mode: "AUTOMATIC" } as const]) {
      const target = {
        ...server.target,
        mechanism: "ReducedDowntimeMigration" as const,
        ...(temporaryNetwork && { temporaryNetwork }),
      };
      const { stages } = await succeed(() => activities().runMgmtPrechecks(target));
      expect(stages.filter(({ status }) => status !== "SUCCESSFUL")).to.deep.equal([]);
      await succeed(() => activities().prepareMgmtMigration(target));
      await succeed(() => activities().cancelMgmtMigration(target));
    }
    await succeed(() => activities().prepareMgmtMigration(server.target));
    expect(await succeed(() => activities().switchOverMgmtMigration(server.target))).to.deep.equal({
      version: mgmtTarget,
    });
    expect(violations()).to.deep.equal([]);
    expectCalled(
      /action=check&vmw-task=true/,
      /GET \/lcm\/api\/cis\/tasks\//,
      /PUT \/lcm\/api\/.*migration-upgrade/,
      /action=cancel/,
    );
  });

  it("keeps to it when things go wrong", async () => {
    const { target } = server;
    await server.fault({ kind: "SESSIONS_EXPIRED" });
    await server.fault({ kind: "MGMT_BUSY", times: 1 });
    await server.fault({ kind: "MGMT_STAGING_FAILS", times: 1 });
    failureOf(await runStep(() => activities().stageMgmtUpdate(target)));
    await server.hostSeconds(60);
    const run = startStep(() => activities().stageMgmtUpdate(target));
    await run.heartbeat(({ activity }) => /Staging update/.test(activity));
    run.environment.cancel();
    await run.end;
    await server.hostSeconds(0.1);
    await server.fault({ kind: "MGMT_MIGRATION_FAILS", times: 1 });
    await server.fault({ kind: "MGMT_BLOCKED", state: "STAGING", seconds: 0.1, times: 1 });
    failureOf(await runStep(() => activities().prepareMgmtMigration(target)));
    await succeed(() => activities().cancelMgmtMigration(target));
    await server.fault({ kind: "MGMT_INSTALL_FAILS", times: 1 });
    await succeed(() => activities().stageMgmtUpdate(target));
    failureOf(await runStep(() => activities().installMgmtUpdate(target)));
    expect(violations()).to.deep.equal([]);
    expectCalled(/update\?action=cancel/, /migration-upgrade\?action=cancel/);
  });
});
