import { expect } from "chai";
import type { MgmtProgress } from "../../../src/domain/task/mgmt-progress";
import { expectCancelled, failureOf, succeed } from "./simulated-cluster";
import {
  mgmtTarget,
  oldMgmtVersion,
  rootPassword,
  runStep,
  type SimulatedManagementServer,
  simulateManagementServer,
  startStep,
} from "./simulated-management-server";

describe("the migration of a management server", function () {
  this.timeout(20_000);
  let server: SimulatedManagementServer;
  beforeEach(async () => {
    server = await simulateManagementServer();
  });
  afterEach(() => server.close());

  const prepare = (limits = {}, over = {}) => {
    const activities = server.activities({ limits });
    return () => activities.prepareMgmtMigration({ ...server.target, ...over });
  };
  const switchOver = (limits = {}, over = {}) => {
    const activities = server.activities({ limits });
    return () => activities.switchOverMgmtMigration({ ...server.target, ...over });
  };
  const cancel = (limits = {}) => {
    const activities = server.activities({ limits });
    return () => activities.cancelMgmtMigration(server.target);
  };
  const count = async (step: string) => (await server.steps()).filter((done) => done === step).length;

  it("prepares a new appliance, waits, and switches over", async () => {
    const prepared = await runStep(prepare());
    expect(prepared.error).to.equal(undefined);
    expect(
      prepared.heartbeats.some(({ activity, percent }) => /PREPARING/.test(activity) && percent !== undefined),
    ).to.equal(true);
    expect((await server.state()).migration).to.include({ state: "PREPARED" });

    await server.hostSeconds(5);
    const { result, heartbeats } = await runStep(switchOver());
    expect(result).to.deep.equal({ version: mgmtTarget });
    expect(heartbeats.some(({ activity }) => /Waiting for fra1-vc01 to come back/.test(activity))).to.equal(true);
    expect(await server.steps()).to.deep.equal([
      "MGMT_MIGRATION_SET",
      "MGMT_MIGRATION_APPLIED",
      "MGMT_PREPARED",
      "MGMT_MIGRATION_APPLIED",
      "MGMT_SWITCHOVER_STARTED",
      "MGMT_SWITCHED_OVER",
    ]);
    expect(JSON.stringify([...prepared.heartbeats, ...heartbeats])).to.not.include(rootPassword);
  });

  it("follows a switchover while the machine's own API is away", async () => {
    await succeed(prepare());
    await server.hostSeconds(5);
    const { result, heartbeats } = await runStep(switchOver());
    expect(result).to.deep.equal({ version: mgmtTarget });
    // Its API is away from a tenth of the switchover to nine tenths, the upgrade service only in the middle of that.
    expect(heartbeats.some(({ percent = 0 }) => percent >= 50 && percent < 90)).to.equal(true);
  });

  it("migrates a source whose own API has no migration yet", async () => {
    await server.close();
    server = await simulateManagementServer({ version: "8.0.3.0" });
    const { stages } = await succeed(() =>
      server.activities().runMgmtPrechecks({ ...server.target, mechanism: "ReducedDowntimeMigration" }),
    );
    expect(stages.filter(({ status }) => status !== "SUCCESSFUL")).to.deep.equal([]);
    await succeed(prepare());
    expect(await succeed(switchOver())).to.deep.equal({ version: mgmtTarget });
  });

  it("asks for the static network with its DNS servers, always with a pause, and for no network otherwise", async () => {
    await succeed(prepare());
    expect((await server.state()).migration?.network).to.deep.equal({
      mode: "STATIC",
      ip_family: "IPV4",
      ip: "10.20.30.40",
      prefix: 24,
      gateway: "10.20.30.1",
      dns_servers: ["10.20.30.2"],
    });
    const applied = (await server.ledger()).find(({ step }) => step === "MGMT_MIGRATION_APPLIED");
    expect(applied?.detail).to.equal("INITIALIZED pause BEFORE_SWITCHOVER");
    await succeed(cancel());
    await succeed(prepare({}, { temporaryNetwork: { mode: "AUTOMATIC" } }));
    expect((await server.state()).migration).to.not.have.property("network");
  });

  it("does nothing twice", async () => {
    await succeed(prepare());
    await succeed(prepare());
    expect(await count("MGMT_MIGRATION_SET")).to.equal(1);
    await succeed(switchOver());
    expect(await succeed(switchOver())).to.deep.equal({ version: mgmtTarget });
    await succeed(prepare());
    expect(await count("MGMT_SWITCHOVER_STARTED")).to.equal(1);
  });

  for (const after of [true, false])
    it(`copes with ${after ? "answers" : "requests"} that are lost on the way`, async () => {
      const lose = (method: string, path: string) =>
        server.fault({ kind: "CONNECTION_DROPPED", method, path, times: 1, after });
      await lose("PUT", "migration-upgrade");
      await lose("POST", "action=apply");
      await succeed(prepare());
      await lose("POST", "action=apply");
      expect(await succeed(switchOver())).to.deep.equal({ version: mgmtTarget });
      expect(await count("MGMT_SWITCHOVER_STARTED")).to.equal(1);
    });

  it("counts a preparation that fails, and begins anew until its attempts are used up", async () => {
    await server.fault({ kind: "MGMT_MIGRATION_FAILS", times: 2, message: "not enough resources" });
    await server.fault({ kind: "MGMT_ADDRESS_CLASH", times: 1 });
    let heartbeatDetails: MgmtProgress | undefined;
    for (const [i, type] of ["MGMT_CHECK_FAILED", "MGMT_MIGRATION_FAILED", "MGMT_MIGRATION_FAILED"].entries()) {
      const end = await runStep(prepare(), { attempt: i + 1, heartbeatDetails });
      heartbeatDetails = end.heartbeats.at(-1);
      const failure = failureOf(end);
      expect(failure).to.include({ type, nonRetryable: i === 2 });
      expect(failure.told.error.message).to.match(i === 0 ? /10\.20\.30\.40 is in use/ : /not enough resources/);
    }
    await succeed(prepare());
  });

  it("begins anew, and uses up no attempt, where the server has ended the preparation by its own restart", async () => {
    await server.hostSeconds(10);
    const run = startStep(prepare());
    await run.heartbeat(({ activity }) => /PREPARING/.test(activity));
    await server.fault({ kind: "MANAGER_RESTARTS", seconds: 1 });
    const { error, heartbeats } = await run.end;
    expect(error).to.equal(undefined);
    expect(heartbeats.at(-1)).to.include({ reportedFailures: 0 });
    expect(await count("MGMT_MIGRATION_SET")).to.equal(2);
    expect((await server.state()).migration).to.include({ state: "PREPARED" });
  });

  for (const kind of ["MGMT_STUCK", "MGMT_BLOCKED"])
    it(`takes back a preparation that stands still (${kind})`, async () => {
      await server.fault({ kind, state: "PREPARING", times: 1 });
      const end = await runStep(prepare({ mgmtStall: 200 }));
      const failure = failureOf(end);
      expect(failure).to.include({ type: "MGMT_MIGRATION_STALLED", nonRetryable: false });
      expect(failure.told.error.message).to.include(
        kind === "MGMT_BLOCKED" ? "PREPARING (BLOCKED)" : "PREPARING (RUNNING)",
      );
      expect((await server.state()).migration).to.include({ state: "CANCELED" });
      expect(end.heartbeats.some(({ activity }) => activity.includes("waits for an operator"))).to.equal(
        kind === "MGMT_BLOCKED",
      );
    });

  it("names what the inventory lacks before anything is asked for", async () => {
    const settings = { dnsServers: [], temporaryRootPassword: rootPassword, answers: {} };
    const failure = failureOf(await runStep(() => server.activities({ settings }).prepareMgmtMigration(server.target)));
    expect(failure).to.include({ type: "MGMT_SETTINGS_MISSING", nonRetryable: true });
    expect(await server.steps()).to.deep.equal([]);
  });

  it("ends for good where the switchover fails", async () => {
    await succeed(prepare());
    await server.fault({
      kind: "MGMT_MIGRATION_FAILS",
      state: "SWITCHOVER",
      times: 1,
      message: "the network did not move",
    });
    const failure = failureOf(await runStep(switchOver()));
    expect(failure).to.include({ type: "MGMT_SWITCHOVER_FAILED", nonRetryable: true });
    expect(failure.told.error.message).to.include("the network did not move");
    expect((await server.state()).version).to.equal(oldMgmtVersion);

    expect(failureOf(await runStep(prepare()))).to.include({ type: "MGMT_SWITCHOVER_FAILED", nonRetryable: true });
    const path = "vcenter/lcm/deployment/migration-upgrade?action=cancel";
    expect(await server.asSomebodyElse("POST", path), "what the operator is told to do").to.equal(204);
    await succeed(prepare());
    expect(await succeed(switchOver())).to.deep.equal({ version: mgmtTarget });
  });

  it("does not switch over what somebody has taken back", async () => {
    await succeed(prepare());
    await succeed(cancel());
    expect(failureOf(await runStep(switchOver()))).to.include({ type: "MGMT_CHANGE_LOST", nonRetryable: true });
  });

  it("is bounded where the new appliance does not answer, and where the switchover hangs", async () => {
    await server.fault({ kind: "MGMT_API_DOWN", times: 1, seconds: 60 });
    await succeed(prepare());
    expect(failureOf(await runStep(switchOver({ mgmtAbsence: 200 })))).to.include({
      type: "COMPONENT_MANAGER_UNREACHABLE",
    });
    await server.close();
    server = await simulateManagementServer();
    await server.fault({ kind: "MGMT_STUCK", state: "SWITCHOVER", times: 1 });
    await succeed(prepare());
    expect(failureOf(await runStep(switchOver({ mgmtStall: 200 })))).to.include({
      type: "MGMT_MIGRATION_STALLED",
      nonRetryable: true,
    });
  });

  it("never lets the product's words carry the password out", async () => {
    await server.fault({ kind: "MGMT_MIGRATION_FAILS", times: 1, message: `password ${rootPassword} is too weak` });
    const end = await runStep(prepare());
    const failure = failureOf(end);
    expect(failure.told.error.message).to.include("password [redacted] is too weak");
    expect(JSON.stringify([failure.told, failure.message, failure.stack, end.heartbeats])).to.not.include(rootPassword);
  });

  it("attaches to what runs after its worker was lost", async () => {
    await server.hostSeconds(5);
    const lost = startStep(prepare());
    const known = await lost.heartbeat(({ activity }) => /PREPARING|STAGING/.test(activity));
    lost.environment.cancel("WORKER_SHUTDOWN");
    expect(failureOf(await lost.end)).to.include({ type: "WORKER_SHUTDOWN" });
    await succeed(prepare({}, { resume: known }));
    expect(await count("MGMT_MIGRATION_SET")).to.equal(1);

    const switching = startStep(switchOver());
    const heartbeatDetails = await switching.heartbeat(({ activity }) => /come back/.test(activity));
    switching.environment.cancel("WORKER_SHUTDOWN");
    await switching.end;
    expect((await runStep(switchOver(), { attempt: 2, heartbeatDetails })).result).to.deep.equal({
      version: mgmtTarget,
    });
    expect(await count("MGMT_SWITCHOVER_STARTED")).to.equal(1);
  });

  describe("cancelled", () => {
    it("leaves what was begun to the cancellation of the migration, which takes it back", async () => {
      await server.hostSeconds(1);
      const run = startStep(prepare());
      await run.heartbeat(({ activity }) => /PREPARING|STAGING/.test(activity));
      run.environment.cancel();
      expectCancelled(await run.end);
      await server.fault({ kind: "SERVICE_UNAVAILABLE", path: "action=cancel", times: 2 });
      await succeed(cancel());
      expect((await server.state()).migration).to.include({ state: "CANCELED" });
      await succeed(cancel());
      expect(await count("MGMT_MIGRATION_CANCELLED")).to.equal(1);
    });

    it("brings a switchover that has begun to its end", async () => {
      await succeed(prepare());
      await server.hostSeconds(1);
      const run = startStep(switchOver());
      await run.heartbeat(({ activity }) => /Switching over|come back/.test(activity));
      run.environment.cancel();
      const { result, heartbeats } = await run.end;
      expect(result).to.deep.equal({ version: mgmtTarget });
      expect(heartbeats.some(({ activity }) => /come back|must finish/.test(activity))).to.equal(true);
    });

    it("begins no switchover, also as a run of its own", async () => {
      await succeed(prepare());
      const stop = { stop: true, resume: { reportedFailures: 0, activity: "" } };
      expect(failureOf(await runStep(switchOver({}, stop)))).to.include({ type: "CANCELLED" });
      expect(await count("MGMT_SWITCHOVER_STARTED")).to.equal(0);
    });

    it("does not touch a migration of somebody else, nor one that has switched over", async () => {
      const spec = { version: "9.0.1.0", deployment: { appliance: { root_password: "other" } } };
      await server.asSomebodyElse("PUT", "vcenter/lcm/deployment/migration-upgrade", spec);
      await succeed(cancel());
      expect(await count("MGMT_MIGRATION_CANCELLED")).to.equal(0);
    });

    it("is bounded where the migration does not come to its end", async () => {
      await succeed(prepare());
      await server.fault({ kind: "MGMT_STUCK", state: "CANCELING", times: 1 });
      const failure = failureOf(await runStep(cancel({ mgmtStall: 200 })));
      expect(failure).to.include({ type: "MGMT_MIGRATION_NOT_CANCELLED", nonRetryable: true });
    });
  });
});
