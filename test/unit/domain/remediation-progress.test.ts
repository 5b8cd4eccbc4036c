import { expect } from "chai";
import { clustersOf } from "../../../src/domain/plan/upgrade-plan";
import type { SubTask } from "../../../src/domain/spec/task";
import {
  applyClusterProgress,
  type ClusterProgress,
  initialClusterSubTask,
} from "../../../src/domain/task/cluster-progress";
import { type RemediationProgress, stagesOfHost } from "../../../src/domain/task/host-remediation";
import { applyPendingActivity, type PendingActivity } from "../../../src/domain/task/pending-activity";
import { sampleHosts } from "../../support/fake-activities";
import { clusters, samplePlan } from "../../support/sample-plan";
import { sampleProgress } from "../../support/sample-progress";

const time = (minute: number) => `2026-12-01T09:${String(minute).padStart(2, "0")}:00.000Z`;
const failure = { code: "HOST_REMEDIATION_FAILED", what: "failed: No space.", hosts: [0], at: time(9) };

describe("stagesOfHost", () => {
  const times = (progress: RemediationProgress) =>
    stagesOfHost(progress, 0, "esx-1", time(30)).map(
      ({ type, status, creationTimestamp, completionTimestamp = "" }) =>
        `${type} ${status} ${creationTimestamp.slice(14, 16)}-${completionTimestamp.slice(14, 16)}`,
    );
  const entered = { CHECK_COMPLIANCE: time(0), REMEDIATE: time(1), RECONNECT: time(8), VERIFY: time(12) };

  it("tells of a host that was upgraded when each stage began and ended", () => {
    expect(times(sampleProgress({ phases: "U", began: time(0), entered }))).to.deep.equal([
      "CHECK_COMPLIANCE SUCCESSFUL 00-01",
      "REMEDIATE SUCCESSFUL 01-08",
      "RECONNECT SUCCESSFUL 08-12",
      "VERIFY SUCCESSFUL 12-30",
    ]);
  });

  it("tells of a host that has failed when and why, and of what it did not come to nothing", () => {
    const failed = [{ ...failure, stage: "RECONNECT" }];
    const progress = sampleProgress({ phases: "F", began: time(0), entered, failed });
    expect(times(progress)).to.deep.equal([
      "CHECK_COMPLIANCE SUCCESSFUL 00-01",
      "REMEDIATE SUCCESSFUL 01-08",
      "RECONNECT FAILED 08-09",
      "VERIFY PENDING 00-",
    ]);
    const [error] = stagesOfHost(progress, 0, "esx-1", time(30))[2]?.errors ?? [];
    expect(error?.message).to.equal("Host esx-1 failed: No space.");
  });

  it("shows maintenance mode around the product's remediation in the stages beside it", () => {
    const open = (phases: string) =>
      times(sampleProgress({ phases, began: time(0) })).findIndex((s) => /IN_PRO/.test(s));
    expect(["k", "m", "r", "c", "y", "x"].map(open)).to.deep.equal([0, 1, 1, 2, 3, 3]);
  });

  it("has stages that were left out end with the ones before", () => {
    const progress = sampleProgress({
      kind: "BASELINE",
      phases: "b",
      began: time(0),
      entered: { CHECK_VERSION: time(0), REBOOT: time(3) },
    });
    expect(times(progress)).to.deep.equal([
      "CHECK_VERSION SUCCESSFUL 00-03",
      "CHANGE_VM_POWER SUCCESSFUL 00-03",
      "ENTER_MAINTENANCE_MODE SUCCESSFUL 00-03",
      "INSTALL_PATCH SUCCESSFUL 00-03",
      "REBOOT IN_PROGRESS 03-",
      "RECONNECT PENDING 00-",
      "EXIT_MAINTENANCE_MODE PENDING 00-",
      "VERIFY PENDING 00-",
    ]);
  });

  it("shows of a host at the target that it was compared, and no more", () => {
    expect(times(sampleProgress({ phases: "A", began: time(0) }))).to.deep.equal(["CHECK_COMPLIANCE SUCCESSFUL 00-30"]);
  });
});

describe("a pending remediation in the Task", () => {
  const [cluster] = clustersOf(samplePlan({ resources: clusters(1) }));
  const subTask = (
    [
      { type: "HostsRead", hosts: sampleHosts(4), upgradedBefore: [], at: time(0) },
      ...[1, 2, 3].map((n) => ({ type: "HostStarted" as const, host: `host-${n}`, at: time(0) })),
    ] satisfies ClusterProgress[]
  ).reduce<SubTask>(applyClusterProgress, initialClusterSubTask(cluster!, time(0)));
  const shown = (pending: Partial<PendingActivity>) =>
    applyPendingActivity(subTask, {
      activityId: "remediate/host-2",
      type: "remediateHosts",
      heartbeat: undefined,
      progressAtFailure: undefined,
      maximumAttempts: 2,
      ...pending,
    }).subTasks?.map(({ description, errors, progressPercent }) =>
      [description, progressPercent, errors?.[0]?.message].filter((part) => part !== undefined).join(" | "),
    );
  const [untouched] = subTask.subTasks?.map(({ description }) => description) ?? [];
  const [, , , later] = subTask.subTasks?.map(({ description }) => description) ?? [];

  it("of one host says in its words what it does and how far it is, beside others in work", () => {
    const heartbeat = sampleProgress({ phases: "r", activity: "Rebooting.", percent: 40, maximumAttempts: 1 });
    expect(shown({ heartbeat })).to.deep.equal([untouched, "Rebooting. (40 %) | 40", untouched, later]);
  });

  it("of one host says between attempts when the next one comes, and after what", () => {
    const progressAtFailure = sampleProgress({
      phases: "t",
      failures: [1],
      failed: [{ ...failure, stage: "REMEDIATE" }],
      maximumAttempts: 3,
    });
    const lastError = { message: "Host esx-02 failed: No space." };
    expect(shown({ progressAtFailure, lastError, nextAttemptAt: time(20) })?.[1]).to.equal(
      `Attempt 2 of 3 starts at ${time(20)}, after: Host esx-02 failed: No space. | Host esx-02 failed: No space.`,
    );
  });

  it("of several hosts says of each how far it is, from the first on", () => {
    const progressAtFailure = sampleProgress({
      phases: "tU",
      failures: [1, 0],
      failed: [{ ...failure, stage: "REMEDIATE" }],
      maximumAttempts: 2,
    });
    expect(shown({ progressAtFailure, lastError: { message: "of all" }, nextAttemptAt: time(20) })).to.deep.equal([
      untouched,
      `Attempt 2 of 2 starts at ${time(20)}, after: Host esx-02.example.com failed: No space. | Host esx-02.example.com failed: No space.`,
      "Upgraded. (attempt 1 of 2)",
      later,
    ]);
  });

  it("that nothing is known of yet waits for a worker, and one of other hosts is not shown", () => {
    expect(shown({})?.[1]).to.equal("Waiting for a worker. (attempt 1 of 2)");
    expect(shown({ heartbeat: sampleProgress({ phases: "rrrr", failures: [0, 0, 0, 0] }) })?.[1]).to.equal(untouched);
  });
});
