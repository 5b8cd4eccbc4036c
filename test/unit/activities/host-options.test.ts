import { expect } from "chai";
import type { HostRemediationOptions } from "../../../src/domain/task/host-remediation";
import {
  failureOf,
  newVersion,
  type OneHostInput,
  remediateHost,
  runActivity,
  simulateCluster,
  type SimulatedCluster,
  startActivity,
  succeed,
  targetVersion,
} from "./simulated-cluster";

/** Each option from the Activities to what a component manager does; only the simulator is none. */
describe("the options of hosts", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  let input: OneHostInput;

  beforeEach(async () => {
    cluster = await simulateCluster();
    const [host] = (await cluster.state()).hosts;
    const attempts = { maximumAttempts: 1, retryDelay: 0 };
    input = { ...cluster.target, host: { host: host?.id ?? "", fqdn: host?.name ?? "" }, attempts };
  });
  afterEach(() => cluster.close());

  async function prepare(options: HostRemediationOptions, version = targetVersion) {
    input = { ...input, targetVersion: version };
    const activities = cluster.activities();
    await succeed(() => activities.setDesiredImage(input));
    await succeed(() => activities.putRemediationPolicy({ ...input, options, previous: {} }));
    return () => remediateHost(activities, input);
  }
  const upgrade = async (options: HostRemediationOptions) => succeed(await prepare(options));
  const entries = (step: string) => cluster.ledger(`cluster=domain-c8&step=${step}`);
  const detail = async (step: string) => (await entries(step))[0]?.detail;
  const first = async () => (await cluster.state()).hosts[0];

  const powerActions = [
    ["DO_NOT_CHANGE_VMS_POWER_STATE", /12 VMs moved/],
    ["POWER_OFF_VMS", /12 VMs powered off/],
    ["SUSPEND_VMS", /12 VMs suspended$/],
    ["SUSPEND_VMS_TO_MEMORY", /12 VMs suspended to memory/],
  ] as const;
  for (const [preRemediationPowerAction, told] of powerActions)
    it(`preRemediationPowerAction ${preRemediationPowerAction}`, async () => {
      const before = await first();
      await upgrade({ preRemediationPowerAction });
      expect(await detail("MAINTENANCE_ENTERED")).to.match(told);
      expect(await first()).to.deep.include({ poweredOnVms: before?.poweredOnVms, suspendedVms: before?.suspendedVms });
    });

  it("enableQuickboot", async () => {
    await upgrade({ enableQuickboot: true });
    expect(await detail("REBOOTED")).to.equal("quick boot");
    const [requested, restarted] = [(await entries("REMEDIATED"))[0], (await entries("REBOOTED"))[0]];
    const reboot = Date.parse(restarted?.at ?? "") - Date.parse(requested?.at ?? "");
    expect(reboot).to.be.within(29, 31);
  });

  for (const evacuateOfflineVms of [true, false])
    it(`evacuateOfflineVms ${evacuateOfflineVms}`, async () => {
      await upgrade({ evacuateOfflineVms });
      expect(/powered-off VMs moved/.test((await detail("MAINTENANCE_ENTERED")) ?? "")).to.equal(evacuateOfflineVms);
    });

  for (const [option, setting, blocker] of [
    ["disableHac", "admissionControl", "ADMISSION_CONTROL"],
    ["disableDpm", "dpm", "DPM"],
  ] as const)
    describe(option, () => {
      const settings = async () => (await cluster.state())[setting];
      const isOff = async () => {
        expect(await detail("SETTINGS_SWITCHED_OFF")).to.equal(setting);
      };

      it("lets a host be upgraded that could not be otherwise", async () => {
        await cluster.fault({ kind: "EVACUATION_BLOCKED", by: blocker });
        const failing = await prepare({ [option]: false });
        expect(failureOf(await runActivity(failing)).type).to.equal("HOST_REMEDIATION_FAILED");
        expect(await upgrade({ [option]: true })).to.include({ outcome: "UPGRADED" });
        await isOff();
        expect(await settings()).to.equal(true);
      });

      it("is put back after a failure", async () => {
        await cluster.fault({ kind: "REMEDIATION_FAILS" });
        failureOf(await runActivity(await prepare({ [option]: true })));
        await isOff();
        expect(await settings()).to.equal(true);
      });

      it("is put back after a cancellation", async () => {
        await cluster.hostSeconds(12);
        const run = startActivity(await prepare({ [option]: true }));
        await run.heartbeat(({ activity }) => /entering maintenance mode/.test(activity));
        expect(await settings()).to.equal(false);
        run.environment.cancel();
        await run.end;
        expect(await settings()).to.equal(true);
      });

      it("is put back after the worker crashed in between", async () => {
        await cluster.hostSeconds(0.5);
        const remediate = await prepare({ [option]: true });
        const lost = startActivity(remediate);
        const known = await lost.heartbeat(({ remoteTask }) => remoteTask !== undefined);
        expect(await settings()).to.equal(false);
        lost.environment.cancel("WORKER_SHUTDOWN");
        await lost.end;
        const { result } = await runActivity(remediate, { attempt: 2, heartbeatDetails: known });
        expect(result).to.include({ outcome: "UPGRADED" });
        expect(await settings()).to.equal(true);
      });
    });

  it("enforceHclValidation makes of incompatible hardware an error that stops the host before it is touched", async () => {
    await cluster.fault({ kind: "HARDWARE_INCOMPATIBLE", message: "The controller is not on the list." });
    const failure = failureOf(await runActivity(await prepare({ enforceHclValidation: true })));
    expect(failure.told.error).to.include({ errorCode: "HOST_REMEDIATION_FAILED" });
    expect(failure.told.error.message).to.match(/The controller is not on the list\./);
    expect(await entries("MAINTENANCE_ENTERED")).to.deep.equal([]);
    expect(await upgrade({ enforceHclValidation: false })).to.include({ outcome: "UPGRADED" });
  });

  it("enableQuickPatch upgrades without maintenance mode and reboot", async () => {
    expect(await upgrade({ enableQuickPatch: true })).to.include({ outcome: "UPGRADED", version: targetVersion });
    expect(await cluster.steps(`host=${input.host.host}`)).to.deep.equal(["APPLY_STARTED", "LIVE_PATCHED"]);
  });

  it("enableQuickPatch is refused where the image is no live patch, and the host is left as it is", async () => {
    const failure = failureOf(await runActivity(await prepare({ enableQuickPatch: true }, newVersion)));
    expect(failure).to.include({ type: "HOST_REMEDIATION_FAILED" });
    expect(failure.told.error.message).to.match(/without a reboot, which the policy demands/);
    expect(await first()).to.include({ maintenance: "OUT", version: "9.0.0-0.24755229" });
    expect(await entries("MAINTENANCE_ENTERED")).to.deep.equal([]);
    expect(await succeed(await prepare({ enableQuickPatch: false }, newVersion))).to.include({ outcome: "UPGRADED" });
    expect(await entries("REBOOTED")).to.have.length(1);
  });

  it("switches parallel remediation off for a single host, because it would be skipped", async () => {
    const policy = { failure_action: { action: "FAIL" }, parallel_remediation_action: { enabled: true, max_hosts: 8 } };
    const activities = cluster.activities();
    await succeed(() => activities.restoreRemediationPolicy({ ...input, previous: policy }));
    const recorded = await succeed(() => activities.readRemediationPolicy(input));
    await succeed(() => activities.setDesiredImage(input));
    await succeed(() => activities.putRemediationPolicy({ ...input, options: {}, ...recorded }));
    expect(await succeed(() => remediateHost(activities, input))).to.include({ outcome: "UPGRADED" });
    await succeed(() => activities.restoreRemediationPolicy({ ...input, ...recorded }));
    expect((await cluster.state()).policy).to.deep.equal(policy);
  });
});
