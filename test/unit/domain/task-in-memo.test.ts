import { expect } from "chai";
import { clustersOf } from "../../../src/domain/plan/upgrade-plan";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import { initialClusterSubTask } from "../../../src/domain/task/cluster-progress";
import { taskInMemo } from "../../../src/domain/task/task-change";
import { applyProgress, initialTask, withResources } from "../../../src/domain/task/task-progress";
import { clusters, samplePlan } from "../../support/sample-plan";

const at = "2026-11-01T12:00:00.000Z";

/** An upgrade of so many clusters whose prechecks have ended, and what their own Workflows say of them. */
function checked(count: number): { task: Task; own: ReadonlyMap<string, SubTask> } {
  const plan = samplePlan({ resources: clusters(count) });
  const resources = clustersOf(plan);
  const stage = {
    name: "Hosts",
    type: "HOSTS",
    description: "Hosts",
    status: "SUCCESSFUL",
    creationTimestamp: at,
  } as const;
  let task = applyProgress(initialTask(plan), { type: "PrechecksStarted", resources, at });
  for (const { resourceId } of resources)
    task = applyProgress(task, { type: "ResourcePrechecked", resourceId, stages: [stage], at });
  task = applyProgress(task, { type: "PrechecksEnded", at });
  return { task, own: new Map(resources.map((one) => [one.resourceId, initialClusterSubTask(one, at)])) };
}

const stagesOf = ({ subTasks = [] }: Task) =>
  subTasks.map((part) => [part.type, (part.subTasks ?? []).flatMap(({ stages = [] }) => stages).length] as const);

describe("the Task in the memo of its upgrade", () => {
  it("is the whole of it for up to 64 resources", () => {
    const { task } = checked(64);
    expect(taskInMemo(task)).to.equal(task);
  });

  it("has of more the checks of each, and no stages of what their own Workflows tell", () => {
    const { task } = checked(65);
    const whole = new Map(stagesOf(task));
    const kept = new Map(stagesOf(taskInMemo(task)));
    expect(whole.get("HOSTOS_UPGRADE")).to.be.above(65);
    expect(kept.get("HOSTOS_UPGRADE")).to.equal(0);
    expect(kept.get("PRECHECKS")).to.equal(whole.get("PRECHECKS"));
  });

  it("tells an error of the prechecks once, and every other finding", () => {
    const { task } = checked(65);
    const finding = {
      code: "CLUSTER_BUSY",
      remediationMessage: "Wait.",
      resourceId: task.resources?.[0]?.resourceId ?? "",
      isAcknowledgeable: true,
    };
    const stage = {
      name: "Hosts",
      type: "HOSTS",
      description: "Hosts",
      status: "FAILED",
      creationTimestamp: at,
      errors: [{ errorCode: "CLUSTER_BUSY", message: "Busy." }],
      findings: [
        { ...finding, severity: "ERROR", message: "Busy." },
        { ...finding, severity: "WARNING", message: "Clocks differ." },
      ],
    } as const;
    const [run, ...rest] = task.subTasks ?? [];
    const [part, ...others] = run?.subTasks ?? [];
    const stages = [{ ...stage, errors: [...stage.errors], findings: [...stage.findings] }];
    const failed = { ...task, subTasks: [{ ...run!, subTasks: [{ ...part!, stages }, ...others] }, ...rest] };
    const kept = taskInMemo(failed).subTasks?.[0]?.subTasks?.[0]?.stages?.[0];
    expect(kept?.errors).to.deep.equal(stage.errors);
    expect(kept?.findings?.map(({ message }) => message)).to.deep.equal(["Clocks differ."]);
  });

  it("is the whole of it again with what these Workflows say", () => {
    const { task, own } = checked(65);
    expect(withResources(taskInMemo(task), own)).to.deep.equal(withResources(task, own));
  });
});
