import { expect } from "chai";
import { applyTaskEvent, nothingKnown, type FollowedTask } from "../../../src/console/model/task-events";
import { pageAddressOf, fragmentOf } from "../../../src/console/model/page-address";
import { taskUpdate } from "../../../src/domain/task-change";
import { cluster, runningHost, task, waitingHost } from "./console-task";

const next = (known: FollowedTask, event: string, data: unknown): FollowedTask => {
  const after = applyTaskEvent(known, { event, data: typeof data === "string" ? data : JSON.stringify(data) });
  if (after._tag === "Left") throw new Error(after.left);
  return after.right;
};

describe("the events that the console follows", () => {
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

describe("the console's addresses", () => {
  it("lead back to the page they were made of", () => {
    for (const address of [
      { page: "UPGRADES" },
      { page: "UPGRADES", view: { status: "DRAFT", bundleId: "a b&c=d", resourceId: "#/é", page: 12 } },
      { page: "NEW" },
      { page: "UPGRADE", id: "6f1f-2a" },
    ] as const)
      expect(pageAddressOf(fragmentOf(address))).to.deep.equal(address);
    for (const fragment of ["#/upgrades/../x", "#/?", "#/?page=1", "#/?page=-3", "#/?page=x&status=", "#/?other=y"])
      expect(pageAddressOf(fragment), fragment).to.deep.equal({ page: "UPGRADES" });
  });
});
