import { expect } from "chai";
import { completeTask } from "../../../activities/complete-task";
import { DriverError } from "../../../activities/drivers/driver-error";
import type { TaskInfo } from "../../../activities/drivers/vapi/vapi-models";
import type { RetryPolicy } from "../../../activities/retry-policy";
import { ManualClock } from "../../support/manual-clock";

describe("Waiting for the end of a short task", () => {
  /** A component manager whose task ends at so many looks. */
  const endingAt = (last: number) => {
    let looks = 0;
    const readTask = () => Promise.resolve({ status: ++looks < last ? "RUNNING" : "SUCCEEDED" } as TaskInfo);
    return { id: "vc-1", readTask };
  };
  const clock = new ManualClock();
  const patient = (pauses: number[]): RetryPolicy => ({
    stage: "IN_WORK",
    bounds: { outage: 1000, operationBusy: 1000, poll: { min: 250, max: 5000 }, clock },
    clock,
    retry: (request) => request(),
    once: (request) => request(),
    pause: (round) => Promise.resolve(void pauses.push(round)),
  });

  it("takes no pause where it has ended at the first look", async () => {
    const pauses: number[] = [];
    expect(await completeTask(endingAt(1), patient(pauses), "task-1")).to.include({ status: "SUCCEEDED" });
    expect(pauses).to.deep.equal([]);
  });

  it("looks soon after at first, and then as seldom as at anything else", async () => {
    const pauses: number[] = [];
    await completeTask(endingAt(8), patient(pauses), "task-1");
    expect(pauses).to.deep.equal([-8, -6, -4, -2, 0, 1, 2]);
  });

  it("gives nothing where the component manager has forgotten it", async () => {
    const forgotten = new DriverError({
      kind: "permanent",
      code: "RESOURCE_NOT_FOUND",
      message: "m",
      remediation: "r",
    });
    const reader = { id: "vc-1", readTask: () => Promise.reject(forgotten) };
    expect(await completeTask(reader, patient([]), "task-1")).to.equal(undefined);
  });
});
