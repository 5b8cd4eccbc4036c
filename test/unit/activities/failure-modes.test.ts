import { expect } from "chai";
import type { ActivityLimits } from "../../../activities/activity-limits";
import {
  type ActivityEnd,
  failureOf,
  oldVersion,
  runActivity,
  type SimulatedCluster,
  simulateCluster,
  startActivity,
  succeed,
  targetVersion,
  remediateHost,
  type OneHostInput,
} from "./simulated-cluster";

/** The rows of docs/failures.md on image-managed clusters, each as the Activities meet it. */
describe("failures seen in the field", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  let input: OneHostInput;
  const once = { maximumAttempts: 1, retryDelay: 0 };

  beforeEach(async () => {
    cluster = await simulateCluster("IMAGE", { hosts: 3 });
    const [host] = (await cluster.state()).hosts;
    input = { ...cluster.target, host: { host: host?.id ?? "", fqdn: host?.name ?? "" }, attempts: { ...once } };
  });
  afterEach(() => cluster.close());

  const prepare = async (options = {}) => {
    const activities = cluster.activities();
    await succeed(() => activities.putRemediationPolicy({ ...input, options, previous: {} }));
    await succeed(() => activities.setDesiredImage(input));
  };
  const remediate = (more: Partial<OneHostInput> = {}, limits?: Partial<ActivityLimits>) => {
    const activities = cluster.activities(limits);
    return () => remediateHost(activities, { ...input, ...more });
  };
  const applies = async () => (await cluster.steps()).filter((step) => step === "APPLY_REQUESTED").length;
  const first = async () => (await cluster.state()).hosts[0];
  const precheckErrors = async () => {
    const { stages } = await succeed(() => cluster.activities().runClusterPrechecks(input));
    return stages.flatMap(({ type, errors = [] }) =>
      errors.map(({ errorCode, message }) => ({ type, errorCode, message })),
    );
  };

  /** What an operator reads of a failed host, and that nothing of the cluster is left changed. */
  async function expectFailure(
    end: ActivityEnd<unknown>,
    code: string,
    message: RegExp,
    { counted = true, retryable = false, connection = "CONNECTED", maintenance = "OUT" } = {},
  ): Promise<void> {
    const failure = failureOf(end);
    const { error, progress } = failure.told;
    expect(error.errorCode).to.equal(code);
    expect(error.message).to.match(message);
    expect(error.remediationMessage).to.not.be.empty;
    expect(error.context).to.include({ cluster: "cluster-01", host: "esx-01.example.com" });
    expect(progress?.failures).to.deep.equal([counted ? 1 : 0]);
    expect(failure.nonRetryable).to.equal(!retryable);
    expect(await first()).to.include({ version: oldVersion, connection, maintenance });
    const { runningTasks, drafts, admissionControl, dpm } = await cluster.state();
    expect({
      applies: runningTasks.filter(({ kind }) => kind === "apply"),
      drafts,
      admissionControl,
      dpm,
    }).to.deep.equal({
      applies: [],
      drafts: [],
      admissionControl: true,
      dpm: true,
    });
  }

  describe("1: a host never reaches maintenance mode", () => {
    it("hangs: the remediation is cancelled when nothing moves, and the host stays as it was", async () => {
      await prepare({ disableHac: true });
      await cluster.fault({ kind: "MAINTENANCE_MODE_HANGS" });
      await expectFailure(
        await runActivity(remediate({}, { stall: 60 })),
        "HOST_REMEDIATION_STALLED",
        /esx-01\.example\.com made no progress\./,
      );
      expect(await cluster.steps()).to.include.members(["CANCELLED", "SETTINGS_RESTORED"]);
    });

    it("stalls: the product's word is a failure that is retried as the request says", async () => {
      await prepare();
      await cluster.fault({ kind: "MAINTENANCE_MODE_STUCK", seconds: 0.02, times: 1 });
      const attempts = { maximumAttempts: 2, retryDelay: 0 };
      const end = await runActivity(remediate({ attempts }));
      await expectFailure(end, "HOST_REMEDIATION_FAILED", /could not enter maintenance mode: not all VMs left it/, {
        retryable: true,
      });
      const { result } = await runActivity(remediate({ attempts }), {
        attempt: 2,
        heartbeatDetails: end.heartbeats.at(-1),
      });
      expect(result).to.include({ outcome: "UPGRADED" });
      expect(await applies()).to.equal(2);
    });
  });

  it("2: no room for the VMs while another host is in maintenance mode; later there is", async () => {
    await prepare();
    await cluster.put("esx-02.example.com", "IN");
    await cluster.fault({ kind: "EVACUATION_IMPOSSIBLE", others: 1 });
    await expectFailure(await runActivity(remediate()), "HOST_REMEDIATION_FAILED", /not enough unreserved memory/);
    await cluster.put("esx-02.example.com", "OUT");
    expect(await succeed(remediate())).to.include({ outcome: "UPGRADED" });
  });

  for (const [by, reason] of [
    ["ADMISSION_CONTROL", /HA admission control leaves too little capacity/],
    ["DPM", /DPM keeps hosts of the cluster in standby/],
    ["RUNNING_VMS", /a VM with a connected CD-ROM or a local disk cannot move/],
  ] as const)
    it(`3: ${by} keeps the VMs on the host, which a precheck only warns of`, async () => {
      await cluster.fault({ kind: "EVACUATION_BLOCKED", by });
      expect(await precheckErrors()).to.deep.equal([]);
      await prepare();
      await expectFailure(await runActivity(remediate()), "HOST_REMEDIATION_FAILED", reason);
    });

  describe("4: vSAN", () => {
    it("has one host in maintenance mode at a time, so several at once come to one", async () => {
      await cluster.fault({ kind: "VSAN_ONE_AT_A_TIME" });
      const activities = cluster.activities();
      await succeed(() => activities.putRemediationPolicy({ ...input, options: {}, previous: {}, hostsAtOnce: 2 }));
      await succeed(() => activities.setDesiredImage(input));
      const hosts = (await cluster.state()).hosts.slice(0, 2).map(({ id, name }) => ({ host: id, fqdn: name }));
      const { upgraded, failed } = await succeed(() =>
        activities.remediateHosts({ ...cluster.target, hosts, emptying: {}, attempts: once }),
      );
      expect([upgraded.length, failed.map(({ error }) => error.errorCode)]).to.deep.equal([
        1,
        ["HOST_MAINTENANCE_MODE_FAILED"],
      ]);
      expect(failed[0]?.error.message).to.match(/vSAN allows one at a time/);
      expect((await cluster.state()).hosts.map(({ maintenance }) => maintenance)).to.deep.equal(["OUT", "OUT", "OUT"]);
    });

    it("takes a hundred times as long, which is no stall while it moves", async () => {
      await prepare();
      await cluster.hostSeconds(0.02);
      await cluster.fault({ kind: "HOST_SLOW", factor: 100 });
      expect(await succeed(remediate({}, { stall: 500 }))).to.include({ outcome: "UPGRADED" });
    });
  });

  it("5: a remediation of several hosts stops at the first that fails; the others are asked for again", async () => {
    await cluster.fault({ kind: "PARALLEL_REMEDIATION_UNSUPPORTED" });
    await cluster.fault({ kind: "REMEDIATION_FAILS", host: "esx-02.example.com", message: "The bootbank is full." });
    const activities = cluster.activities();
    const options = { preRemediationPowerAction: "POWER_OFF_VMS" } as const;
    await succeed(() => activities.putRemediationPolicy({ ...input, options, previous: {}, hostsAtOnce: 3 }));
    await succeed(() => activities.setDesiredImage(input));
    const hosts = (await cluster.state()).hosts.map(({ id, name }) => ({ host: id, fqdn: name }));
    const { failed } = await succeed(() =>
      activities.remediateHosts({ ...cluster.target, hosts, emptying: options, attempts: once }),
    );
    expect(failed.map(({ error }) => error.message)).to.deep.equal([
      "Host esx-02.example.com failed: The bootbank is full.",
    ]);
    expect((await cluster.state()).hosts.map(({ version, maintenance }) => `${version} ${maintenance}`)).to.deep.equal([
      `${targetVersion} OUT`,
      `${oldVersion} OUT`,
      `${targetVersion} OUT`,
    ]);
    const tries = (await cluster.ledger()).filter(({ step }) => step === "APPLY_STARTED").map(({ attempt }) => attempt);
    expect(tries).to.deep.equal([1, 1, 1]);
  });

  it("6: a host does not come back: named after a bounded wait, and upgraded by a retry once it is repaired", async () => {
    await prepare();
    await cluster.fault({ kind: "HOST_NEVER_RECONNECTS", seconds: 0.02 });
    const end = await runActivity(remediate());
    await expectFailure(end, "HOST_NOT_RECONNECTED", /esx-01\.example\.com is NOT_RESPONDING: .* did not reconnect/, {
      connection: "NOT_RESPONDING",
      maintenance: "IN",
    });
    expect(failureOf(end).told.error.remediationMessage).to.match(/console/);
    await cluster.repair();
    expect(await succeed(remediate())).to.include({ outcome: "UPGRADED" });
  });

  describe("7: a host refuses the image", () => {
    const message = "No space left on device: /altbootbank";

    it("fails in the prechecks, and nothing is changed", async () => {
      await cluster.fault({ kind: "IMAGE_REFUSED", host: "esx-01.example.com", message });
      expect(await precheckErrors()).to.deep.equal([
        {
          type: "CLUSTER_HEALTH",
          errorCode: "HEALTH_CHECK_ERROR",
          message: `esx-01.example.com: Host readiness: ${message}`,
        },
      ]);
      expect(await cluster.steps()).to.deep.equal([]);
    });

    it("fails before the host is touched where it begins after the prechecks", async () => {
      await cluster.fault({ kind: "IMAGE_REFUSED", host: "esx-01.example.com", message });
      await prepare();
      await expectFailure(await runActivity(remediate()), "HOST_INCOMPATIBLE", /cannot take 9\.0\.1.*No space left/, {
        counted: false,
      });
      expect(await applies()).to.equal(0);
      await cluster.repair();
      expect(await succeed(remediate())).to.include({ outcome: "UPGRADED" });
    });
  });

  it("8: hardware off the compatibility list stops a host only where that is to be enforced", async () => {
    await cluster.fault({ kind: "HARDWARE_INCOMPATIBLE" });
    expect(await precheckErrors()).to.deep.equal([]);
    await prepare({ enforceHclValidation: true });
    await expectFailure(
      await runActivity(remediate()),
      "HOST_REMEDIATION_FAILED",
      /not on the hardware compatibility list/,
    );
    expect(await cluster.steps()).to.not.include("MAINTENANCE_ENTERED");
    await prepare({ enforceHclValidation: false });
    expect(await succeed(remediate())).to.include({ outcome: "UPGRADED" });
  });

  it("9: another operation on the cluster is waited for; if it does not end, no attempt is used up", async () => {
    await prepare();
    await cluster.fault({ kind: "OPERATION_IN_PROGRESS", times: 3 });
    expect(await succeed(remediate())).to.include({ outcome: "UPGRADED" });
    await succeed(() => cluster.activities().setDesiredImage({ ...input, targetVersion: "9.1.0-0.25100000" }));
    await cluster.fault({ kind: "OPERATION_IN_PROGRESS" });
    const busy = remediate({ targetVersion: "9.1.0-0.25100000" }, { operationBusy: 60 });
    const failure = failureOf(await runActivity(busy));
    expect(failure).to.include({ type: "CLUSTER_BUSY", nonRetryable: true });
    expect(failure.told.progress).to.deep.include({ failures: [0] });
    expect(await applies()).to.equal(1);
  });

  it("10: a license agreement that is not accepted is not asked about for ever", async () => {
    await prepare();
    await cluster.fault({ kind: "EULA_NOT_ACCEPTED" });
    const end = await runActivity(remediate());
    await expectFailure(end, "EULA_NOT_ACCEPTED", /500 ERROR: The end user license agreement was not accepted/, {
      counted: false,
    });
    expect(failureOf(end).told.error.remediationMessage).to.match(/Accept the license agreement/);
    expect(await applies()).to.equal(0);
    await cluster.repair();
    expect(await succeed(remediate())).to.include({ outcome: "UPGRADED" });
  });

  describe("11: the clocks differ", () => {
    it("for a while, which is waited out", async () => {
      await prepare();
      await cluster.fault({ kind: "CLOCK_SKEW", times: 6 });
      const { result, heartbeats } = await runActivity(remediate());
      expect(result).to.include({ outcome: "UPGRADED" });
      expect(heartbeats.some(({ activity }) => /Token start date is in the future/.test(activity))).to.equal(true);
    });

    it("for too long, which is not told as a wrong password", async () => {
      await prepare();
      await cluster.fault({ kind: "CLOCK_SKEW" });
      const failure = failureOf(await runActivity(remediate({}, { outage: 60 })));
      expect(failure).to.include({ type: "COMPONENT_MANAGER_CLOCK_SKEW", nonRetryable: true });
      expect(failure.told.error.remediationMessage).to.match(/Synchronise the clocks/);
      expect(failure.told.progress).to.deep.include({ failures: [0] });
    });
  });

  it("12: sessions expire, the service restarts and forgets its tasks; nothing is asked for twice", async () => {
    await prepare();
    await cluster.hostSeconds(0.8);
    const run = startActivity(remediate());
    await run.heartbeat(({ remoteTask }) => remoteTask !== undefined);
    await cluster.fault({ kind: "SESSIONS_EXPIRED" });
    await cluster.fault({ kind: "TASKS_FORGOTTEN" });
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE", times: 4 });
    await cluster.fault({ kind: "CONNECTION_DROPPED", times: 2 });
    expect((await run.end).result).to.include({ outcome: "UPGRADED" });
    expect(await applies()).to.equal(1);
  });

  describe("13: something times out", () => {
    it("the remediation of a host, which counts and is retried as the request says", async () => {
      await prepare();
      await cluster.fault({ kind: "REMEDIATION_TIMES_OUT", times: 1 });
      await expectFailure(
        await runActivity(remediate()),
        "HOST_REMEDIATION_FAILED",
        /timed out: the image could not be copied/,
      );
      expect(await succeed(remediate())).to.include({ outcome: "UPGRADED" });
    });

    for (const after of [true, false])
      it(`the request for it ${after ? "after" : "before"} it took effect, which is found out before it is repeated`, async () => {
        await prepare();
        await cluster.fault({ kind: "CALL_TIMED_OUT", method: "POST", path: "action=apply", times: 1, after });
        expect(await succeed(remediate())).to.include({ outcome: "UPGRADED" });
        expect(await applies()).to.equal(1);
      });
  });
});
