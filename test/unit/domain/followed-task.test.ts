import { expect } from "chai";
import { applyTaskEvent, type FollowedTask, nothingKnown, taskUpdate } from "../../../src/domain/task/task-change";
import { cluster, runningHost, task, waitingHost } from "../console/console-task";

const next = (known: FollowedTask, event: string, data: unknown): FollowedTask => {
  const after = applyTaskEvent(known, { event, data: typeof data === "string" ? data : JSON.stringify(data) });
  if (after._tag === "Left") throw new Error(after.left);
  return after.right;
};

describe("the events of a Task that is followed", () => {
  const before = task([cluster("IN_PROGRESS", [waitingHost("a"), waitingHost("b")])]);
  const after = task([cluster("IN_PROGRESS", [runningHost("a", 1), waitingHost("b")])]);

  it("build the task out of a snapshot and changes", () => {
    const update = taskUpdate(before, after);
    if (update.type !== "CHANGE") throw new Error(update.type);
    const known = next(nothingKnown, "snapshot", before);
    expect(next(known, "change", update.change).task).to.deep.equal(after);
  });

  it("keep the task while the service cannot read it", () => {
    const known = next(nothingKnown, "snapshot", before);
    const away = next(known, "unavailable", { message: "Temporal is away" });
    expect([away.task, away.unavailable?.message]).to.deep.equal([before, "Temporal is away"]);
    expect(next(away, "available", {})).to.deep.equal(known);
    expect(next(known, "end", { status: "Successful" })).to.deep.equal({ ...known, hasEnded: true });
  });

  it("are left alone where their name is unknown, and refused where they cannot be understood", () => {
    expect(next(nothingKnown, "later", "?")).to.equal(nothingKnown);
    for (const [event, data] of [
      ["snapshot", "{"],
      ["snapshot", "{}"],
      ["change", JSON.stringify({ subTasks: [] })],
    ] as const)
      expect(applyTaskEvent(nothingKnown, { event, data })._tag, data).to.equal("Left");
  });
});
