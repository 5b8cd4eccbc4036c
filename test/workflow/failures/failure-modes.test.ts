import { expect } from "chai";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import { eventually } from "../../support/eventually";
import { oldVersions, readTask, SimulatedPlatform, subTasksOf } from "../../support/simulated-platform";
import { useBench } from "../../support/upgrade-bench";
import { type FailureMode, failureModes, passingModes } from "./failure-modes";

describe("Failures seen in the field, as the Task tells them", function () {
  this.timeout(120_000);
  const bench = useBench("DEV_SERVER");
  let platform: SimulatedPlatform;

  beforeEach(async () => {
    platform = await SimulatedPlatform.start();
  });
  afterEach(() => platform.close());

  const settings = async () =>
    (await platform.state()).clusters.map(({ policy, admissionControl, dpm }) => ({ policy, admissionControl, dpm }));

  const afterTheEnd = (id: string) =>
    eventually(
      () => readTask(bench().env, id),
      ({ status }) => status !== "Pending" && status !== "In Progress",
      // The hosts are looked at once more 30 s after a failure that has left one out of service.
      60_000,
    );

  for (const mode of failureModes)
    it(mode.what, async () => {
      const before = await settings();
      for (const one of mode.inMaintenance ?? []) await platform.put(one, "IN");
      for (const fault of mode.faults) await platform.fault(fault);
      const upgrade = await bench().upgrade(platform.plan(mode.product, mode.plan), platform.activities(mode.limits));
      const failed = await afterTheEnd(upgrade.id);

      expectTold(failed, mode);
      expect(await settings(), "policy, HA and DPM").to.deep.equal(before);
      await expectNothingLeft(mode);

      await platform.repair();
      if (mode.migrationLeft !== undefined) await platform.cancelMigration();
      for (const one of mode.inMaintenance ?? []) await platform.put(one, "OUT");
      const retry = await upgrade.ask("retry");
      expect(retry.accepted).to.equal(mode.isRetryable ?? true);
      if (!retry.accepted) return;
      const done = await afterTheEnd(upgrade.id);
      expect(done.status, JSON.stringify(done.errors)).to.equal("Successful");
      expect(done.resolutionStatus).to.equal("RESOLVED");
      expect(await settings(), "policy, HA and DPM").to.deep.equal(before);
    });

  for (const { what, product, faults, plan } of passingModes)
    it(`${what}, which the upgrade gets over`, async () => {
      const before = await settings();
      for (const fault of faults) await platform.fault(fault);
      const upgrade = await bench().upgrade(platform.plan(product, plan), platform.activities());
      const done = await afterTheEnd(upgrade.id);
      // The component manager's own check has warned of what the options of the request get out of the way.
      const warned = faults.some(({ kind }) => kind === "EVACUATION_BLOCKED");
      expect(done.status, JSON.stringify(done.errors)).to.equal(warned ? "COMPLETED_WITH_WARNING" : "Successful");
      expect(await settings(), "policy, HA and DPM").to.deep.equal(before);
      const steps = await platform.steps();
      const begun = steps.filter((step) => /^(APPLY_STARTED|NSX_NODE_STARTED|MGMT_SWITCHOVER_STARTED)$/.test(step));
      expect(begun, "nothing twice").to.have.length({ HOSTOS: 3, NETVIRT: 7, MGMT: 1 }[product]);
    });

  /** What the operator reads: on the Task, and on the part that failed. */
  function expectTold(task: Task, { failed, message, remediation, parts, isRetryable = true }: FailureMode): void {
    expect(task.status, JSON.stringify(task.errors)).to.equal("Failed");
    expect(task).to.include({ isRetryable, isCancellable: false, resolutionStatus: "UNRESOLVED" });
    const innermost = subTasksOf(task).findLast(({ status }) => status === "FAILED");
    expect(innermost?.name).to.match(failed.name);
    const [error] = innermost?.errors ?? [];
    expect(error?.errorCode).to.equal(failed.code);
    expect(error?.message).to.match(message);
    expect(error?.remediationMessage).to.match(remediation);
    const stages = (innermost?.stages ?? []).filter(({ status }) => status === "FAILED");
    expect(stages[0]?.type).to.equal(failed.stage);
    expect(hostsOf(task)).to.equal(parts);
    const [summary] = task.errors ?? [];
    expect(summary?.message)
      .to.match(message)
      .and.to.not.match(/Not run:/);
    expect(summary?.remediationMessage).to.match(remediation);
  }

  /** Nothing is upgraded but what the Task says, nothing runs on, no draft is held, no host is out of service but those that somebody else, or the failure, has put there. */
  async function expectNothingLeft({ inMaintenance = [], failed, ...mode }: FailureMode): Promise<void> {
    if (mode.finally !== undefined)
      await eventually(
        () => platform.steps(),
        (steps) => steps.includes(mode.finally ?? ""),
      );
    const { clusters, managementServer } = await platform.state();
    for (const { runningTasks, drafts, hosts } of clusters) {
      expect({ runningTasks, drafts }).to.deep.equal({ runningTasks: [], drafts: [] });
      const out = hosts.filter(({ maintenance }) => maintenance !== "OUT").map(({ id }) => id);
      expect(out).to.deep.equal(failed.code === "HOST_NOT_RECONNECTED" ? ["host-11"] : inMaintenance);
    }
    expect(managementServer.migration?.state ?? "CANCELED").to.equal(mode.migrationLeft ?? "CANCELED");
    expect(managementServer.version).to.equal(oldVersions.mgmt);
    const statuses = mode.parts === "" ? [] : mode.parts.split(" ");
    for (const [place, { version }] of (clusters[0]?.hosts ?? []).entries())
      if (!mode.mayBeUpgraded || statuses[place] !== "FAILED")
        expect(version !== oldVersions.host, `host ${place} is upgraded`).to.equal(statuses[place] === "SUCCESSFUL");
  }
});

/** Statuses of the hosts of a cluster, in their order. */
function hostsOf(task: Task): string {
  const hosts: SubTask[] = subTasksOf(task).filter(({ type }) => type === "HOST_UPGRADE");
  return hosts.map(({ status }) => status).join(" ");
}
