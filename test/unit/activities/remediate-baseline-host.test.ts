import { ActivityCancellationDetails } from "@temporalio/common";
import { expect } from "chai";
import type { ActivityLimits } from "../../../activities/activity-limits";
import type {
  HostRemediationOptions,
  HostResult,
  RemediationProgress,
} from "../../../src/domain/task/host-remediation";
import {
  expectCancelled,
  failureOf,
  isoVersion,
  type OneHostInput,
  remediateHost,
  runActivity,
  simulateCluster,
  type SimulatedCluster,
  stagesIn,
  startActivity,
  succeed,
  targetVersion,
} from "./simulated-cluster";

const host = "host-11";

/** What the ledger says of a host that was upgraded once. */
const upgradedOnce = [
  "MAINTENANCE_REQUESTED",
  "MAINTENANCE_ENTERED",
  "APPLY_STARTED",
  "REMEDIATED",
  "REBOOT_REQUESTED",
  "REBOOTED",
  "MAINTENANCE_EXITED",
];

describe("remediateHosts of a baseline-managed cluster", function () {
  this.timeout(30_000);
  let cluster: SimulatedCluster;

  beforeEach(async () => {
    cluster = await simulateCluster("BASELINE", { poweredOnVms: 3, poweredOffVms: 1 });
  });
  afterEach(() => cluster.close());

  /** Records the host as the Workflow does, then gives the Activity to run. */
  async function prepared(
    options: HostRemediationOptions = {},
    more: Partial<OneHostInput> = {},
    limits?: Partial<ActivityLimits>,
  ) {
    const target = { ...cluster.target, kind: "BASELINE" as const, options };
    const named = { host, fqdn: "esx-01.example.com" };
    const before = await succeed(() => cluster.activities().readHostBefore({ ...target, host: named }));
    const attempts = { maximumAttempts: 2, retryDelay: 0 };
    const input: OneHostInput = { ...target, host: named, attempts, before };
    const activities = cluster.activities(limits);
    return (again: Partial<OneHostInput> = {}) =>
      () =>
        remediateHost(activities, { ...input, ...more, ...again });
  }
  const stateOfHost = async () => {
    const found = (await cluster.state()).hosts.find(({ id }) => id === host);
    if (!found) throw new Error("the cluster has lost its host");
    return found;
  };
  const steps = () => cluster.steps(`host=${host}`);
  const stagesOf = (stages: HostResult["stages"]) => stages.map(({ type, status }) => `${type} ${status}`);
  const inStage = (type: string) => (progress: RemediationProgress) =>
    stagesIn(progress).includes(`${type} IN_PROGRESS`);

  describe("a host that is upgraded", () => {
    it("goes through all stages, each step once, and its virtual machines are back", async () => {
      const { result, error } = await runActivity((await prepared())());
      expect(error).to.equal(undefined);
      expect(result).to.include({ host, outcome: "UPGRADED", version: targetVersion });
      expect(stagesOf(result?.stages ?? [])).to.deep.equal([
        "CHECK_VERSION SUCCESSFUL",
        "CHANGE_VM_POWER SUCCESSFUL",
        "ENTER_MAINTENANCE_MODE SUCCESSFUL",
        "INSTALL_PATCH SUCCESSFUL",
        "REBOOT SUCCESSFUL",
        "RECONNECT SUCCESSFUL",
        "EXIT_MAINTENANCE_MODE SUCCESSFUL",
        "VERIFY SUCCESSFUL",
      ]);
      expect(await steps()).to.deep.equal(upgradedOnce);
      expect(await stateOfHost()).to.include({ version: targetVersion, maintenance: "OUT", poweredOnVms: 3 });
    });

    it("gets what its custom ISO brings, and not the patch", async () => {
      const remediate = await prepared({}, { targetVersion: isoVersion, customIsoId: "iso-1" });
      expect((await runActivity(remediate())).result).to.include({ outcome: "UPGRADED", version: isoVersion });
      expect(await stateOfHost()).to.include({ version: isoVersion });
      const [installed] = await cluster.ledger(`host=${host}&step=APPLY_STARTED`);
      expect(installed?.detail).to.equal(isoVersion);
      const failure = failureOf(await runActivity(remediate({ customIsoId: "iso-2" })));
      expect(failure).to.include({ type: "PATCH_SOURCE_UNKNOWN", nonRetryable: true });
    });

    it("is left alone where it is at the target already", async () => {
      await succeed((await prepared())());
      const { result } = await runActivity((await prepared())());
      expect(result).to.deep.include({ outcome: "ALREADY_AT_TARGET", version: targetVersion });
      expect(stagesOf(result?.stages ?? [])).to.deep.equal(["CHECK_VERSION SUCCESSFUL"]);
      expect(await steps()).to.deep.equal(upgradedOnce);
    });

    it("is not touched where somebody else has it in maintenance mode", async () => {
      const remediate = await prepared();
      const again = remediate({
        before: {
          at: new Date(cluster.clock.timeOfDay()).toISOString(),
          inMaintenanceMode: true,
          rebootRequired: false,
          atTarget: false,
          runningVms: [],
        },
      });
      const failure = failureOf(await runActivity(again));
      expect(failure).to.include({ type: "HOST_IN_MAINTENANCE_MODE", nonRetryable: true });
      expect(await steps()).to.deep.equal([]);
    });

    for (const [action, during] of [
      ["POWER_OFF_VMS", "poweredOff"],
      ["SUSPEND_VMS", "suspended"],
    ] as const) {
      it(`has its running virtual machines ${during} before maintenance mode, and running again afterwards`, async () => {
        const run = startActivity((await prepared({ preRemediationPowerAction: action }))());
        await run.heartbeat(inStage("INSTALL_PATCH"));
        const there = await stateOfHost();
        expect(there).to.include(
          action === "POWER_OFF_VMS" ? { poweredOffVms: 4, suspendedVms: 0 } : { poweredOffVms: 1, suspendedVms: 3 },
        );
        expect((await run.end).result).to.include({ outcome: "UPGRADED" });
        expect(await stateOfHost()).to.include({ poweredOnVms: 3, poweredOffVms: 1, suspendedVms: 0 });
        const changes = (await steps()).filter((step) => step === "VM_POWER_CHANGED");
        expect(changes).to.have.length(6);
      });
    }

    it("moves its running virtual machines where they are not to be touched", async () => {
      const options = { preRemediationPowerAction: "DO_NOT_CHANGE_VMS_POWER_STATE" as const };
      const run = startActivity((await prepared(options))());
      await run.heartbeat(inStage("INSTALL_PATCH"));
      expect(await stateOfHost()).to.include({ poweredOnVms: 0, poweredOffVms: 1 });
      await run.end;
      expect(await steps()).to.deep.equal(upgradedOnce);
    });

    it("moves its powered-off virtual machines too, where asked", async () => {
      const run = startActivity((await prepared({ evacuateOfflineVms: true }))());
      await run.heartbeat(inStage("INSTALL_PATCH"));
      expect(await stateOfHost()).to.include({ poweredOnVms: 0, poweredOffVms: 0 });
      await run.end;
      expect(await stateOfHost()).to.include({ poweredOnVms: 3, poweredOffVms: 1 });
    });

    for (const method of ["EnterMaintenanceMode", "InstallHostPatchV2", "RebootHost", "ExitMaintenanceMode"]) {
      for (const after of [true, false]) {
        it(`is upgraded once where ${after ? "the answer to" : ""} ${method} is lost`, async () => {
          await cluster.fault({ kind: "CONNECTION_DROPPED", path: method, times: 1, after });
          const { result, error } = await runActivity((await prepared())());
          expect(error).to.equal(undefined);
          expect(result).to.include({ outcome: "UPGRADED" });
          expect(await steps()).to.deep.equal(upgradedOnce);
        });
      }
    }

    it("is waited for through an outage, an expired session, lost answers and another operation", async () => {
      await cluster.hostSeconds(1);
      const run = startActivity((await prepared())());
      await run.heartbeat(inStage("ENTER_MAINTENANCE_MODE"));
      await cluster.fault({ kind: "SESSIONS_EXPIRED" });
      await cluster.fault({ kind: "CONNECTION_DROPPED", path: "RetrieveProperties", times: 2 });
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE", path: "/sdk", times: 4 });
      await cluster.fault({ kind: "OPERATION_IN_PROGRESS", times: 2 });
      await run.heartbeat(({ activity }) => /503/.test(activity));
      expect((await run.end).result).to.include({ outcome: "UPGRADED" });
      expect(await steps()).to.deep.equal(upgradedOnce);
    });

    for (const stage of ["ENTER_MAINTENANCE_MODE", "INSTALL_PATCH", "RECONNECT", "EXIT_MAINTENANCE_MODE"]) {
      it(`is upgraded once where its task is forgotten in ${stage}`, async () => {
        await cluster.hostSeconds(0.6);
        const run = startActivity((await prepared())());
        await run.heartbeat(
          (progress) => inStage(stage)(progress) && (progress.remoteTask !== undefined) === (stage !== "RECONNECT"),
        );
        await cluster.fault({ kind: "TASKS_FORGOTTEN" });
        const { result, error } = await run.end;
        expect(error).to.equal(undefined);
        expect(result).to.include({ outcome: "UPGRADED" });
        expect(await steps()).to.deep.equal(upgradedOnce);
      });
    }
  });

  describe("after a lost run", () => {
    const stages = [
      "CHANGE_VM_POWER",
      "ENTER_MAINTENANCE_MODE",
      "INSTALL_PATCH",
      "REBOOT",
      "RECONNECT",
      "EXIT_MAINTENANCE_MODE",
      "VERIFY",
    ];
    const leftBehind: [string, (known: RemediationProgress) => { heartbeatDetails?: unknown }][] = [
      ["all that was known", (known) => ({ heartbeatDetails: known })],
      ["nothing", () => ({})],
    ];
    for (const stage of stages) {
      for (const [what, infoOf] of leftBehind) {
        it(`goes on from ${stage} and does no step twice, knowing ${what}`, async () => {
          await cluster.hostSeconds(0.4);
          const remediate = await prepared({ preRemediationPowerAction: "POWER_OFF_VMS" });
          const run = startActivity(remediate());
          const known = await run.heartbeat(inStage(stage));
          run.environment.cancel("WORKER_SHUTDOWN");
          await run.end;
          const { result, error } = await runActivity(remediate(), { attempt: 2, ...infoOf(known) });
          expect(error).to.equal(undefined);
          expect(result).to.include({ outcome: "UPGRADED" });
          expect((await steps()).filter((step) => step !== "VM_POWER_CHANGED")).to.deep.equal(upgradedOnce);
          expect((await steps()).filter((step) => step === "VM_POWER_CHANGED")).to.have.length(6);
          expect(await stateOfHost()).to.include({ poweredOnVms: 3, maintenance: "OUT" });
        });
      }
    }

    it("goes on from what the Workflow was told", async () => {
      await cluster.hostSeconds(0.4);
      const remediate = await prepared();
      const run = startActivity(remediate());
      const resume = await run.heartbeat(inStage("INSTALL_PATCH"));
      run.environment.cancel("WORKER_SHUTDOWN");
      await run.end;
      expect((await runActivity(remediate({ resume }))).result).to.include({ outcome: "UPGRADED" });
      expect(await steps()).to.deep.equal(upgradedOnce);
    });
  });

  describe("reported failures", () => {
    it("put the host back into service, are counted, and end with the attempts", async () => {
      await cluster.fault({ kind: "REMEDIATION_FAILS", message: "The bootbank is full." });
      const remediate = await prepared({ preRemediationPowerAction: "POWER_OFF_VMS" });
      const end = await runActivity(remediate());
      const first = failureOf(end);
      expect(first).to.include({ type: "HOST_REMEDIATION_FAILED", nonRetryable: false });
      expect(first.told.error.message).to.match(
        /esx-01\.example\.com could not install the patch: The bootbank is full\./,
      );
      expect(first.told.error.message).to.match(/out of maintenance mode again/);
      // The server cuts a failure of more than 4 KiB.
      expect(JSON.stringify(first.told).length).to.be.below(2_800);
      expect(await stateOfHost()).to.include({ maintenance: "OUT", poweredOnVms: 3, poweredOffVms: 1 });
      const last = end.heartbeats.at(-1);
      expect(stagesIn(last)).to.include("INSTALL_PATCH FAILED");

      const second = failureOf(await runActivity(remediate(), { attempt: 2, heartbeatDetails: last }));
      expect(second).to.include({ type: "HOST_REMEDIATION_FAILED", nonRetryable: true });
      expect(second.told.progress).to.deep.include({ failures: [2] });
    });

    it("do not keep a later attempt from upgrading the host", async () => {
      await cluster.fault({ kind: "MAINTENANCE_MODE_STUCK", times: 1, seconds: 0.05 });
      const remediate = await prepared();
      const { heartbeats, error } = await runActivity(remediate());
      expect(String(error)).to.match(/could not enter maintenance mode/);
      const { result } = await runActivity(remediate(), { attempt: 2, heartbeatDetails: heartbeats.at(-1) });
      expect(result).to.include({ outcome: "UPGRADED" });
    });

    it("include an entry into maintenance mode that makes no progress, which is cancelled", async () => {
      await cluster.fault({ kind: "MAINTENANCE_MODE_HANGS" });
      const end = await runActivity((await prepared({}, {}, { stall: 100 }))());
      expect(failureOf(end)).to.include({ type: "HOST_REMEDIATION_STALLED", nonRetryable: false });
      expect(await steps()).to.include("CANCELLED");
      expect(await stateOfHost()).to.include({ maintenance: "OUT" });
      expect((await cluster.state()).runningTasks).to.deep.equal([]);
    });

    it("include a host that does not come back, and say in which state it is", async () => {
      await cluster.fault({ kind: "HOST_NEVER_RECONNECTS" });
      const failure = failureOf(await runActivity((await prepared({}, {}, { reconnect: 200 }))()));
      expect(failure.type).to.equal("HOST_NOT_RECONNECTED");
      expect(failure.told.error.message).to.match(/is notResponding.*not back in service.*in maintenance mode/);
    });

    it("are followed by an upgrade when the host is back", async () => {
      await cluster.fault({ kind: "HOST_NEVER_RECONNECTS", times: 1 });
      const remediate = await prepared({}, {}, { reconnect: 200 });
      const first = await runActivity(remediate());
      await cluster.repair();
      const { result } = await runActivity(remediate(), { attempt: 2, heartbeatDetails: first.heartbeats.at(-1) });
      expect(result).to.include({ outcome: "UPGRADED" });
    });

    it("say so where the host cannot be taken out of maintenance mode", async () => {
      await cluster.fault({ kind: "REMEDIATION_FAILS", times: 1 });
      await cluster.fault({ kind: "MAINTENANCE_EXIT_FAILS", times: 1, message: "The host is confused." });
      const remediate = await prepared();
      const end = await runActivity(remediate());
      const failure = failureOf(end);
      expect(failure.type).to.equal("HOST_NOT_BACK_IN_SERVICE");
      expect(failure.told.error.message).to.match(
        /could not install.*It is not back in service.*The host is confused\./,
      );
      expect(failure.told.error.remediationMessage).to.match(/Take the host out of maintenance mode/);
      expect(await stateOfHost()).to.include({ maintenance: "IN" });
      expect(failure.told.progress)
        .to.deep.include({ inMaintenanceMode: [0] })
        .and.not.to.have.property("vmsOff");
      // It was ours to begin with: the next attempt goes on from there.
      const { result, heartbeats } = await runActivity(remediate(), {
        attempt: 2,
        heartbeatDetails: end.heartbeats.at(-1),
      });
      expect(result).to.include({ outcome: "UPGRADED" });
      expect(heartbeats.at(-1)).not.to.have.property("inMaintenanceMode");
      expect(await stateOfHost()).to.include({ maintenance: "OUT", version: targetVersion });
    });

    it("say so where a virtual machine cannot be started again, although the host is upgraded", async () => {
      const run = startActivity((await prepared({ preRemediationPowerAction: "SUSPEND_VMS" }))());
      await run.heartbeat(inStage("RECONNECT"));
      await cluster.fault({ kind: "VM_POWER_FAILS", times: 1 });
      const failure = failureOf(await run.end);
      expect(failure.type).to.equal("HOST_NOT_BACK_IN_SERVICE");
      expect(failure.told.error.message).to.match(/could not be restarted \(esx-01-vm-\d+\)/);
      expect(failure.told.progress)
        .to.deep.include({ vmsOff: [0] })
        .and.not.to.have.property("inMaintenanceMode");
      expect(await stateOfHost()).to.include({ maintenance: "OUT", version: targetVersion, poweredOnVms: 2 });
    });

    it("count what has failed while nobody looked", async () => {
      await cluster.fault({ kind: "REMEDIATION_FAILS", times: 1 });
      const remediate = await prepared();
      const run = startActivity(remediate());
      const known = await run.heartbeat(
        (progress) => inStage("INSTALL_PATCH")(progress) && progress.remoteTask !== undefined,
      );
      run.environment.cancel("WORKER_SHUTDOWN");
      await run.end;
      while ((await cluster.state()).runningTasks.length > 0) await cluster.clock.sleep(20);
      const failure = failureOf(await runActivity(remediate(), { attempt: 2, heartbeatDetails: known }));
      expect(failure.type).to.equal("HOST_REMEDIATION_FAILED");
      expect(failure.told.progress).to.deep.include({ failures: [1] });
    });
  });

  describe("a cancellation", () => {
    const cancelled = new ActivityCancellationDetails({ cancelRequested: true });
    const cancelIn = async (stage: string, options: HostRemediationOptions = {}, hostSeconds = 0.6) => {
      await cluster.hostSeconds(hostSeconds);
      const run = startActivity((await prepared(options))());
      await run.heartbeat(
        (progress) => inStage(stage)(progress) && (stage === "CHANGE_VM_POWER" || progress.remoteTask !== undefined),
      );
      run.environment.cancel("CANCELLED", cancelled);
      return run.end;
    };

    it("while virtual machines are switched off starts them again", async () => {
      expectCancelled(await cancelIn("CHANGE_VM_POWER", { preRemediationPowerAction: "POWER_OFF_VMS" }));
      expect(await stateOfHost()).to.include({ maintenance: "OUT", poweredOnVms: 3, poweredOffVms: 1 });
      expect(await steps()).to.not.include("MAINTENANCE_REQUESTED");
    });

    it("while the host enters maintenance mode takes it back out", async () => {
      // Entering takes a quarter of that, and is still under way when the cancellation is noticed.
      expectCancelled(await cancelIn("ENTER_MAINTENANCE_MODE", {}, 30));
      expect(await steps()).to.deep.equal(["MAINTENANCE_REQUESTED", "CANCELLED"]);
      expect(await stateOfHost()).to.include({ maintenance: "OUT" });
      expect((await cluster.state()).runningTasks).to.deep.equal([]);
    });

    it("while the patch is installed brings the host to the end", async () => {
      const { result, error } = await cancelIn("INSTALL_PATCH");
      expect(error).to.equal(undefined);
      expect(result).to.include({ outcome: "UPGRADED" });
      expect(await steps()).to.deep.equal(upgradedOnce);
    });

    it("that comes while nothing looked after the host leaves it in service", async () => {
      await cluster.hostSeconds(0.6);
      const remediate = await prepared();
      const run = startActivity(remediate());
      const resume = await run.heartbeat(
        (progress) => inStage("ENTER_MAINTENANCE_MODE")(progress) && progress.remoteTask !== undefined,
      );
      run.environment.cancel("WORKER_SHUTDOWN");
      await run.end;
      while ((await stateOfHost()).maintenance !== "IN") await cluster.clock.sleep(20);
      const failure = failureOf(await runActivity(remediate({ resume, stop: true })));
      expect(failure.type).to.equal("CANCELLED");
      expect(await stateOfHost()).to.include({ maintenance: "OUT" });
    });
  });
});
