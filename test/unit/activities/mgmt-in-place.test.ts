import { expect } from "chai";
import type { MgmtProgress } from "../../../src/domain/task/mgmt-progress";
import { expectCancelled, failureOf, succeed } from "./simulated-cluster";
import {
  mgmtSettings,
  mgmtTarget,
  oldMgmtVersion,
  runStep,
  type SimulatedManagementServer,
  simulateManagementServer,
  startStep,
} from "./simulated-management-server";

describe("the update of a management server in place", function () {
  this.timeout(20_000);
  let server: SimulatedManagementServer;
  beforeEach(async () => {
    server = await simulateManagementServer();
  });
  afterEach(() => server.close());

  const stage = (limits = {}) => {
    const activities = server.activities({ limits });
    return () => activities.stageMgmtUpdate(server.target);
  };
  const install = (limits = {}, over = {}) => {
    const activities = server.activities({ limits });
    return () => activities.installMgmtUpdate({ ...server.target, ...over });
  };
  const count = async (step: string) => (await server.steps()).filter((done) => done === step).length;

  it("is staged and installed, while the appliance goes away and comes back", async () => {
    const read = () => succeed(() => server.activities().readMgmtServer(server.target));
    expect(await read()).to.deep.equal({ fqdn: "127.0.0.1", version: oldMgmtVersion, atTarget: false });
    await succeed(stage());
    expect((await server.state()).staged).to.deep.equal({ version: mgmtTarget, complete: true });

    // Long enough an absence to outlast the quick repetitions of a read.
    await server.hostSeconds(1);
    const { result, heartbeats } = await runStep(install());
    expect(result).to.deep.equal({ version: mgmtTarget });
    expect(heartbeats.some(({ activity }) => /Waiting for fra1-vc01 to come back/.test(activity))).to.equal(true);
    expect(heartbeats.some(({ activity, percent = 0 }) => /Installing/.test(activity) && percent > 0)).to.equal(true);
    expect(await server.steps()).to.deep.equal([
      "MGMT_STAGE_REQUESTED",
      "MGMT_STAGED",
      "MGMT_INSTALL_REQUESTED",
      "MGMT_INSTALLED",
    ]);
    expect(await read()).to.include({ version: mgmtTarget, atTarget: true });
  });

  it("does nothing where it is done already", async () => {
    await succeed(stage());
    await succeed(stage());
    await succeed(install());
    expect(await succeed(install())).to.deep.equal({ version: mgmtTarget });
    await succeed(stage());
    expect(await count("MGMT_STAGE_REQUESTED")).to.equal(1);
    expect(await count("MGMT_INSTALL_REQUESTED")).to.equal(1);
  });

  it("asks once where an answer is lost on the way", async () => {
    for (const path of ["action=stage", "action=install"])
      await server.fault({ kind: "CONNECTION_DROPPED", method: "POST", path, times: 1, after: true });
    await succeed(stage());
    await succeed(install());
    expect(await count("MGMT_STAGE_REQUESTED")).to.equal(1);
    expect(await count("MGMT_INSTALL_REQUESTED")).to.equal(1);
  });

  it("asks again where the request was lost on the way", async () => {
    for (const path of ["action=stage", "action=install"])
      await server.fault({ kind: "CONNECTION_DROPPED", method: "POST", path, times: 1 });
    await succeed(stage());
    expect(await succeed(install())).to.deep.equal({ version: mgmtTarget });
  });

  it("waits out an outage, expired sessions and another operation", async () => {
    await server.fault({ kind: "SERVICE_UNAVAILABLE", seconds: 0.2 });
    await server.fault({ kind: "MGMT_BUSY", times: 3 });
    await succeed(stage());
    await server.fault({ kind: "SESSIONS_EXPIRED" });
    expect(await succeed(install())).to.deep.equal({ version: mgmtTarget });
  });

  it("counts a staging that fails, and tries again until its attempts are used up", async () => {
    await server.fault({ kind: "MGMT_STAGING_FAILS", times: 3, message: "the repository is away" });
    let heartbeatDetails: MgmtProgress | undefined;
    for (const attempt of [1, 2, 3]) {
      const end = await runStep(stage(), { attempt, heartbeatDetails });
      heartbeatDetails = end.heartbeats.at(-1);
      const failure = failureOf(end);
      expect(failure).to.include({ type: "MGMT_STAGING_FAILED", nonRetryable: attempt === 3 });
      expect(failure.told.error.message).to.match(/could not be staged .*: the repository is away/);
      expect(heartbeatDetails).to.include({ reportedFailures: attempt });
      expect(heartbeatDetails).to.not.have.property("requestedAt");
    }
    await succeed(stage());
  });

  it("stages again, and uses up no attempt, where the appliance has ended the staging by its own restart", async () => {
    await server.hostSeconds(10);
    const run = startStep(stage());
    await run.heartbeat(({ activity, percent }) => /Staging update/.test(activity) && percent !== undefined);
    await server.fault({ kind: "MANAGER_RESTARTS", seconds: 1 });
    const { error, heartbeats } = await run.end;
    expect(error).to.equal(undefined);
    expect(heartbeats.at(-1)).to.include({ reportedFailures: 0 });
    expect(await server.steps()).to.deep.equal([
      "MGMT_STAGE_REQUESTED",
      "MANAGER_RESTARTED",
      "MGMT_STAGING_FAILED",
      "MGMT_STAGE_REQUESTED",
      "MGMT_STAGED",
    ]);
  });

  it("cancels a staging that makes no progress", async () => {
    await server.fault({ kind: "MGMT_STUCK", state: "STAGE_IN_PROGRESS", times: 1 });
    const failure = failureOf(await runStep(stage({ mgmtStall: 200 })));
    expect(failure).to.include({ type: "MGMT_UPDATE_STALLED", nonRetryable: false });
    expect((await server.state()).update).to.include({ status: "CANCELLED" });
  });

  it("leaves another update that is staged alone", async () => {
    await server.asSomebodyElse("POST", "appliance/update/pending/9.0.1.0?action=stage", {});
    while ((await server.state()).staged?.complete !== true) await server.clock.sleep(50);
    const failure = failureOf(await runStep(stage()));
    expect(failure).to.include({ type: "MGMT_OTHER_UPDATE_STAGED", nonRetryable: true });
    expect((await server.state()).staged).to.include({ version: "9.0.1.0" });
  });

  for (const [kind, type] of [
    ["MGMT_INSTALL_FAILS", "MGMT_INSTALL_FAILED"],
    ["MGMT_INSTALL_ROLLS_BACK", "MGMT_INSTALL_ROLLED_BACK"],
  ] as const)
    it(`ends for good where the installation ends as ${type}`, async () => {
      await server.fault({ kind, times: 1, message: "the conversion failed" });
      await succeed(stage());
      const failure = failureOf(await runStep(install()));
      expect(failure).to.include({ type, nonRetryable: true });
      expect(failure.told.error.message).to.include("the conversion failed");
      expect(await count("MGMT_INSTALL_REQUESTED")).to.equal(1);
      expect((await server.state()).version).to.equal(oldMgmtVersion);
    });

  it("is begun again, and uses up no attempt, where the appliance has ended it by its own restart before anything was changed", async () => {
    await server.fault({ kind: "MGMT_INSTALL_INTERRUPTED", times: 2 });
    await succeed(stage());
    const { result, error, heartbeats } = await runStep(install());
    expect(error).to.equal(undefined);
    expect(result).to.deep.equal({ version: mgmtTarget });
    expect(heartbeats.at(-1)).to.include({ reportedFailures: 0 });
    const steps = (await server.steps()).filter((step) => step.startsWith("MGMT_INSTALL"));
    const again = ["MGMT_INSTALL_REQUESTED", "MGMT_INSTALL_INTERRUPTED"];
    expect(steps).to.deep.equal([...again, ...again, "MGMT_INSTALL_REQUESTED", "MGMT_INSTALLED"]);
  });

  it("is not begun for ever where each is ended by a restart", async () => {
    await server.fault({ kind: "MGMT_INSTALL_INTERRUPTED" });
    await succeed(stage());
    const failure = failureOf(await runStep(install()));
    expect(failure.type).to.equal("MGMT_NOT_STARTED");
    expect(await count("MGMT_INSTALL_REQUESTED")).to.equal(5);
  });

  it("is bounded where the appliance does not come back", async () => {
    await server.fault({ kind: "MGMT_API_DOWN", times: 1, seconds: 60 });
    await succeed(stage());
    const end = await runStep(install({ mgmtAbsence: 200 }));
    expect(failureOf(end)).to.include({ type: "COMPONENT_MANAGER_UNREACHABLE", nonRetryable: true });
    expect(end.heartbeats.at(-1)).to.include({ reportedFailures: 0, accepted: true });
  });

  it("is bounded where the installation hangs, and does not claim to have stopped it", async () => {
    await server.fault({ kind: "MGMT_STUCK", state: "INSTALL_IN_PROGRESS", times: 1 });
    await succeed(stage());
    const failure = failureOf(await runStep(install({ mgmtStall: 200 })));
    expect(failure).to.include({ type: "MGMT_UPDATE_STALLED", nonRetryable: true });
    expect(failure.told.error.message).to.include("cannot be cancelled and may still continue");
  });

  it("answers the product's questions from the inventory, and tells nobody", async () => {
    await server.fault({ kind: "MGMT_QUESTION_ASKED" });
    await succeed(stage());
    const { result, heartbeats } = await runStep(install());
    expect(result).to.deep.equal({ version: mgmtTarget });
    expect(JSON.stringify(heartbeats)).to.not.include(mgmtSettings.answers["vmdir.password"]);

    await server.close();
    server = await simulateManagementServer();
    await server.fault({ kind: "MGMT_QUESTION_ASKED", item: "other.data" });
    await succeed(stage());
    const failure = failureOf(await runStep(install()));
    expect(failure).to.include({ type: "MGMT_QUESTION_UNANSWERED", nonRetryable: true });
    expect(failure.told.error.message).to.include("other.data");
  });

  describe("after its worker was lost", () => {
    it("attaches to the installation that runs", async () => {
      await succeed(stage());
      await server.hostSeconds(1);
      const lost = startStep(install());
      const heartbeatDetails = await lost.heartbeat(({ activity }) => /Installing/.test(activity));
      lost.environment.cancel("WORKER_SHUTDOWN");
      expect(failureOf(await lost.end)).to.include({ type: "WORKER_SHUTDOWN" });
      const again = await runStep(install({}, { resume: heartbeatDetails }));
      expect(again.result).to.deep.equal({ version: mgmtTarget });
      expect(await count("MGMT_INSTALL_REQUESTED")).to.equal(1);
    });

    it("attaches also where the appliance is away", async () => {
      await succeed(stage());
      await server.hostSeconds(1);
      const lost = startStep(install());
      const heartbeatDetails = await lost.heartbeat(({ activity }) => /come back/.test(activity));
      lost.environment.cancel("WORKER_SHUTDOWN");
      await lost.end;
      const again = await runStep(install(), { attempt: 2, heartbeatDetails });
      expect(again.result).to.deep.equal({ version: mgmtTarget });
      expect(await count("MGMT_INSTALL_REQUESTED")).to.equal(1);
    });
  });

  describe("cancelled", () => {
    it("ends a staging that runs", async () => {
      await server.hostSeconds(60);
      const run = startStep(stage());
      await run.heartbeat(({ activity }) => /Staging update/.test(activity));
      run.environment.cancel();
      expectCancelled(await run.end);
      expect((await server.state()).update).to.include({ kind: "stage", status: "CANCELLED" });
    });

    it("brings an installation that runs to its end", async () => {
      await succeed(stage());
      await server.hostSeconds(0.5);
      const run = startStep(install());
      await run.heartbeat(({ activity }) => /Installing/.test(activity));
      run.environment.cancel();
      const { result, heartbeats } = await run.end;
      expect(result).to.deep.equal({ version: mgmtTarget });
      expect(heartbeats.some(({ activity }) => /an installation must finish/.test(activity))).to.equal(true);
    });

    it("begins nothing where nothing runs, also as a run of its own", async () => {
      await succeed(stage());
      const stop = { stop: true, resume: { reportedFailures: 0, activity: "" } };
      expect(failureOf(await runStep(install({}, stop)))).to.include({ type: "CANCELLED", nonRetryable: true });
      expect(await count("MGMT_INSTALL_REQUESTED")).to.equal(0);
    });
  });
});
