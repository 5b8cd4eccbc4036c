import { expect } from "chai";
import type { SubTask, SubTaskStatus, Task } from "../../../src/domain/spec/task";
import { endedResources } from "../../../src/domain/task/task-change";

describe("resources that have ended", () => {
  const at = "2026-12-01T09:30:00.000Z";
  const part = (type: string, status: SubTaskStatus, rest: Partial<SubTask> = {}): SubTask => {
    return { name: "a", description: "b", creationTimestamp: at, type, status, ...rest };
  };
  const resource = (resourceId: string, status: SubTaskStatus) =>
    part("CLUSTER_UPGRADE", status, { resources: [{ resourceId }] });

  it("are those that their product says have ended, whatever was prechecked", () => {
    const task: Task = {
      ...{ id: "t", name: "u", type: "UPGRADE", status: "In Progress", creationTimestamp: at },
      subTasks: [
        part("PRECHECKS", "SUCCESSFUL", { subTasks: [resource("prechecked", "SUCCESSFUL")] }),
        part("HOSTOS_UPGRADE", "IN_PROGRESS", {
          subTasks: [
            resource("done", "SUCCESSFUL"),
            resource("failed", "FAILED"),
            resource("nothing to do", "NOT_APPLICABLE"),
            resource("running", "IN_PROGRESS"),
            resource("waiting", "PENDING"),
          ],
        }),
      ],
    };
    expect([...endedResources(task)]).to.deep.equal(["done", "failed", "nothing to do"]);
  });
});
