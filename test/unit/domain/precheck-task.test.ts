import { expect } from "chai";
import fc from "fast-check";
import { resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import { Task } from "../../../src/domain/spec/task";
import { precheckRunOf, precheckTask, precheckTaskId } from "../../../src/domain/task/prechecks";
import { applyProgress, initialTask, type TaskProgress } from "../../../src/domain/task/task-progress";
import { failedCheck, passedCheck } from "../../support/fake-activities";
import { samplePlan } from "../../support/sample-plan";

const plan = samplePlan({ draft: true });
const [resource] = resourcesOf(plan);
const resourceId = resource?.resourceId ?? "";
const at = plan.creationTimestamp;
const after = (...happenings: TaskProgress[]) => happenings.reduce(applyProgress, initialTask(plan));

const started: TaskProgress = { type: "PrechecksStarted", resources: resourcesOf(plan), at };
const passed: TaskProgress = { type: "ResourcePrechecked", resourceId, stages: passedCheck(), at };
const failed: TaskProgress = { type: "ResourcePrechecked", resourceId, stages: failedCheck(), at };
const ended: TaskProgress = { type: "PrechecksEnded", at };
const cancelled: TaskProgress = { type: "PhaseEntered", phase: "CANCELLED", at };

describe("precheckTask", () => {
  const statusOf = (task: Task, run: number) => precheckTask(task, run)?.status;

  it("follows the run from its beginning to its end", () => {
    expect(statusOf(after(), 1)).to.equal("Pending");
    expect(statusOf(after(started), 1)).to.equal("In Progress");
    expect(statusOf(after(started, passed, ended), 1)).to.equal("Successful");
    expect(statusOf(after(started, failed, ended), 1)).to.equal("Failed");
  });

  it("keeps earlier runs readable, each under its own id", () => {
    const task = after(started, failed, ended, started, passed, ended);
    expect([statusOf(task, 1), statusOf(task, 2)]).to.deep.equal(["Failed", "Successful"]);
    expect(precheckTask(task, 2)).to.include({ id: `${plan.id}-prechecks-2`, name: "Prechecks, run 2" });
    expect(JSON.stringify(precheckTask(task, 1))).to.contain("HOST_NOT_CONNECTED");
    expect(precheckTask(task, 3)).to.equal(undefined);
    expect(precheckTask(task, 0)).to.equal(undefined);
  });

  it("is cancelled with its upgrade, while an earlier failure stays one", () => {
    expect(statusOf(after(cancelled), 1)).to.equal("Cancelled");
    expect(statusOf(after(started, cancelled), 1)).to.equal("Cancelled");
    expect(statusOf(after(started, failed, ended, cancelled), 1)).to.equal("Failed");
  });

  it("is a complete Task that can be neither cancelled nor retried", () => {
    const task = precheckTask(after(started, failed, ended), 1);
    expect(Task.is(task)).to.equal(true);
    expect(task).to.include({ type: "PRECHECKS", isCancellable: false, isRetryable: false, completionTimestamp: at });
    expect(task?.resources).to.deep.equal([{ resourceId, name: resource?.name }]);
  });
});

describe("precheckTaskId", () => {
  it("tells upgrade and run again", () =>
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 1, max: 999_999 }), (upgradeId, run) => {
        expect(precheckRunOf(precheckTaskId({ upgradeId, run }))).to.deep.equal({ upgradeId, run });
        expect(precheckRunOf(upgradeId)).to.equal(undefined);
      }),
    ));

  it("takes no run that is none", () => {
    for (const id of ["a-prechecks-0", "a-prechecks-", "a-prechecks-01", "-prechecks-1", "a-prechecks-1x"]) {
      expect(precheckRunOf(id), id).to.equal(undefined);
    }
  });
});
