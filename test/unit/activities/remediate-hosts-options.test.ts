import { expect } from "chai";
import type { ActivityLimits } from "../../../activities/activity-limits";
import type { RemediateHostsInput, RunningVms } from "../../../activities/contract";
import type { RemediationProgress, RemediationResult } from "../../../src/domain/task/host-remediation";
import {
  expectCancelled,
  failureOf,
  runActivity,
  simulateCluster,
  type SimulatedCluster,
  startActivity,
  succeed,
} from "./simulated-cluster";

describe("remediateHosts, switching virtual machines off itself", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  let input: RemediateHostsInput;
  let runningVms: RunningVms;
  const ownOptions = { preRemediationPowerAction: "POWER_OFF_VMS" } as const;
  const once = { maximumAttempts: 1, retryDelay: 0 };

  beforeEach(async () => {
    cluster = await simulateCluster("IMAGE", { hosts: 3, poweredOnVms: 2, poweredOffVms: 1 });
    const activities = cluster.activities();
    const target = { ...cluster.target, ownOptions };
    await succeed(() => activities.setDesiredImage(target));
    const recorded = await succeed(() => activities.readRemediationPolicy(target));
    await succeed(() =>
      activities.putRemediationPolicy({ ...target, options: ownOptions, ...recorded, hostsAtOnce: 2 }),
    );
    const hosts = (await cluster.state()).hosts.slice(0, 2).map(({ id, name }) => ({ host: id, fqdn: name }));
    runningVms = await succeed(() => activities.readRunningVms({ ...target, hosts }));
    input = { ...target, hosts, emptying: ownOptions, runningVms, attempts: { maximumAttempts: 2, retryDelay: 0 } };
  });
  afterEach(() => cluster.close());

  const remediate = (more: Partial<RemediateHostsInput> = {}, limits?: Partial<ActivityLimits>) => {
    const activities = cluster.activities(limits);
    return () => activities.remediateHosts({ ...input, ...more });
  };
  const run = (more?: Partial<RemediateHostsInput>, limits?: Partial<ActivityLimits>) =>
    runActivity<RemediationResult, RemediationProgress>(remediate(more, limits));
  const start = (more?: Partial<RemediateHostsInput>) =>
    startActivity<RemediationResult, RemediationProgress>(remediate(more));
  const isAttached = ({ remoteTask }: RemediationProgress) => remoteTask !== undefined;
  const powers = async () =>
    (await cluster.state()).hosts.map(({ poweredOnVms, poweredOffVms }) => `${poweredOnVms} on, ${poweredOffVms} off`);
  const asBefore = Array(3).fill("2 on, 1 off");
  const vmSteps = async () =>
    (await cluster.ledger()).filter(({ step }) => step === "VM_POWER_CHANGED").map(({ detail }) => detail ?? "");
  const applies = async () => (await cluster.steps()).filter((step) => step === "APPLY_REQUESTED").length;

  it("reads what runs on the hosts, and nothing that does not", () => {
    expect(Object.keys(runningVms)).to.deep.equal(input.hosts.map(({ host }) => host));
    expect(Object.values(runningVms).map(({ length }) => length)).to.deep.equal([2, 2]);
  });

  it("leaves running what has come to a host since, and starts nothing that did not run", async () => {
    const [first = "", second = ""] = input.hosts.map(({ host }) => host);
    const [known = "", other = ""] = runningVms[first] ?? [];
    const { result } = await run({ runningVms: { [first]: [known], [second]: [] } });
    expect(result?.upgraded).to.have.length(2);
    expect(await vmSteps()).to.deep.equal([`${known} poweredOff`, `${known} poweredOn`]);
    expect((await vmSteps()).join()).to.not.include(other);
    expect(await powers()).to.deep.equal(asBefore);
  });

  for (const [when, isThen] of [
    ["while they are switched off", ({ activity }: RemediationProgress) => /powered off/.test(activity)],
    ["while the hosts are remediated", isAttached],
    ["while they are started", ({ activity }: RemediationProgress) => /powered on/.test(activity)],
  ] as const)
    it(`goes on after a run that was lost ${when}`, async () => {
      const lost = start();
      const known = await lost.heartbeat(isThen);
      lost.environment.cancel("WORKER_SHUTDOWN");
      await lost.end;
      const { result, error } = await runActivity<RemediationResult, RemediationProgress>(remediate(), {
        heartbeatDetails: known,
        attempt: 2,
      });
      expect(error).to.equal(undefined);
      expect(result?.upgraded).to.have.length(2);
      expect(await powers()).to.deep.equal(asBefore);
      expect(await applies()).to.equal(1);
      expect(new Set(await vmSteps()).size).to.equal((await vmSteps()).length);
    });

  it("starts what a lost run is still switching off where the upgrade was cancelled meanwhile", async () => {
    // A virtual machine then takes 600 ms, which the next run has to wait for.
    await cluster.hostSeconds(60);
    const lost = start();
    await lost.heartbeat(({ activity }) => /powered off/.test(activity));
    while ((await cluster.state()).runningTasks.length === 0);
    lost.environment.cancel("WORKER_SHUTDOWN");
    await lost.end;
    expect(failureOf(await run({ stop: true })).type).to.equal("CANCELLED");
    const changed = (await vmSteps()).map((detail) => detail.split(" ")[1]);
    expect(changed).to.deep.equal([...Array<string>(4).fill("poweredOff"), ...Array<string>(4).fill("poweredOn")]);
    expect(await powers()).to.deep.equal(asBefore);
    expect(await applies()).to.equal(0);
  });

  it("starts what was switched off where it is cancelled in between", async () => {
    const running = start();
    await running.heartbeat(({ activity }) => /powered off/.test(activity));
    running.environment.cancel();
    expectCancelled(await running.end);
    expect(await powers()).to.deep.equal(asBefore);
  });

  it("repeats a request of which the answer was lost, and no other", async () => {
    await cluster.fault({ kind: "CONNECTION_DROPPED", path: "/sdk/PowerOffVM", after: true, times: 1 });
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE", path: "/sdk/PowerOnVM", times: 1 });
    expect((await run()).result?.upgraded).to.have.length(2);
    expect(await powers()).to.deep.equal(asBefore);
    expect(await vmSteps()).to.have.length(8);
  });

  it("starts them when it gives up for another reason than its hosts", async () => {
    await cluster.fault({ kind: "EULA_NOT_ACCEPTED" });
    const { type, told } = failureOf(await run());
    expect(type).to.equal("EULA_NOT_ACCEPTED");
    expect(told.error.message).to.not.match(/maintenance|Switched off/);
    expect(await powers()).to.deep.equal(asBefore);
  });

  it("names those that it cannot start when it gives up", async () => {
    await cluster.fault({ kind: "EULA_NOT_ACCEPTED" });
    const { enter } = cluster.maintenance;
    cluster.maintenance.enter = async (...args) => {
      await enter(...args);
      await cluster.fault({ kind: "VM_POWER_FAILS", message: "The disk is gone." });
    };
    const { type, told } = failureOf(await run());
    expect(type).to.equal("EULA_NOT_ACCEPTED");
    expect(told.error.message).to.match(/Still powered off: esx-01-vm-001, esx-01-vm-002, esx-02-vm-001 and 1 more\.$/);
    expect(told.error.remediationMessage).to.match(/Start the virtual machines that are powered off\.$/);
  });

  it("does not count a host as upgraded before its virtual machines run again", async () => {
    await cluster.hostSeconds(0.6);
    const running = start();
    await running.heartbeat(isAttached);
    const [, second = ""] = input.hosts.map(({ host }) => host);
    await cluster.fault({ kind: "VM_POWER_FAILS", host: second, times: 2, message: "The disk is gone." });
    const end = await running.end;
    const { type, told, nonRetryable } = failureOf(end);
    expect({ type, nonRetryable }).to.deep.equal({ type: "HOST_NOT_BACK_IN_SERVICE", nonRetryable: false });
    expect(told.error.message).to.match(
      /^Host esx-02\S+ is at the target, but has virtual machines that could not be restarted \(.*\): The disk is gone\.$/,
    );
    const { result } = await runActivity<RemediationResult, RemediationProgress>(remediate(), {
      attempt: 2,
      heartbeatDetails: end.heartbeats.at(-1),
    });
    expect(result?.upgraded).to.have.length(2);
    expect(await powers()).to.deep.equal(asBefore);
    expect(await applies()).to.equal(1);
  });

  it("names the virtual machines of a host that does not come back", async () => {
    const [first = ""] = input.hosts.map(({ host }) => host);
    await cluster.fault({ kind: "HOST_NEVER_RECONNECTS", host: first, seconds: 0.01 });
    const { result } = await run({ attempts: once }, { reconnect: 50 });
    expect(result?.upgraded).to.have.length(1);
    expect(result?.failed[0]?.error.errorCode).to.equal("HOST_NOT_RECONNECTED");
    expect(result?.failed[0]?.error.message).to.match(
      /stays in maintenance mode\. It has virtual machines that could not be restarted \(esx-01-vm-001, esx-01-vm-002\)/,
    );
  });
});
