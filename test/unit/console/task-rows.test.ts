import { expect } from "chai";
import { anyFailed, firstOfInterest, parentKey, taskRows, type TaskRow } from "../../../src/console/model/task-rows";
import { cluster, doneHost, part, runningHost, stage, task, waitingHost } from "./console-task";

const names = (rows: readonly TaskRow[]) =>
  rows.map(
    (row) =>
      `${row.level} ${row.kind === "ERROR" ? row.error.message : row.kind === "PART" ? row.part.name : row.stage.name}`,
  );

describe("the console's tree of a task", () => {
  const error = { message: "bootbank is too small" };
  const failed = part("HOST_UPGRADE", "FAILED", {
    name: "b",
    errors: [error],
    stages: [{ ...stage("FAILED", 1), errors: [error] }],
  });

  it("opens at what runs and leaves the rest closed", () => {
    const rows = taskRows(
      task([cluster("IN_PROGRESS", [doneHost("a", 0, 1), runningHost("b", 1), waitingHost("c")])]),
      new Map(),
    );
    expect(names(rows)).to.deep.equal(["1 HOSTOS_UPGRADE", "2 cl01", "3 a", "3 b", "4 Remediate", "3 c"]);
  });

  it("shows an error once, where it happened", () => {
    const rows = taskRows(task([{ ...cluster("FAILED", [failed]), errors: [error] }]), new Map());
    expect(names(rows).filter((name) => name.includes(error.message))).to.deep.equal([`5 ${error.message}`]);
  });

  it("obeys what somebody has closed or opened", () => {
    const shown = task([cluster("IN_PROGRESS", [runningHost("a", 0)]), cluster("PENDING", [waitingHost("z")], "cl02")]);
    const choices = new Map([
      ["/subTasks/1/subTasks/0", false],
      ["/subTasks/1/subTasks/1", true],
    ]);
    expect(names(taskRows(shown, choices)).slice(1)).to.deep.equal(["2 cl01", "2 cl02", "3 z"]);
  });

  it("gives each row a key of its own whose parent is the row that holds it", () => {
    const rows = taskRows(task([cluster("FAILED", [failed, runningHost("c", 0)])]), new Map());
    const keys = rows.map(({ key }) => key);
    expect(new Set(keys).size).to.equal(keys.length);
    for (const { key, level } of rows.filter(({ level }) => level > 1))
      expect(rows.find((row) => row.key === parentKey(key))?.level, key).to.equal(level - 1);
  });

  it("numbers the rows of each parent, so that one knows the place of a row whose neighbours are not in the page", () => {
    const rows = taskRows(task([cluster("FAILED", [failed, runningHost("c", 0)])]), new Map());
    for (const { key, setSize } of rows) {
      const siblings = rows.filter((row) => parentKey(row.key) === parentKey(key));
      expect(
        siblings.map(({ position }) => position),
        key,
      ).to.deep.equal(siblings.map((_, i) => i + 1));
      expect(siblings, key).to.have.lengthOf(setSize);
    }
  });

  it("shows what failed alone, under the same keys", () => {
    const shown = task([
      cluster("IN_PROGRESS", [doneHost("a", 0, 1), failed, runningHost("c", 0)]),
      cluster("PENDING"),
    ]);
    const all = taskRows(shown, new Map());
    const rows = taskRows(shown, new Map(), "FAILED");
    expect(names(rows)).to.deep.equal(["1 HOSTOS_UPGRADE", "2 cl01", "3 b", "4 Remediate", `5 ${error.message}`]);
    expect(all.map(({ key }) => key)).to.include.members(rows.map(({ key }) => key));
    expect([anyFailed(shown), anyFailed(task([cluster("PENDING")]))]).to.deep.equal([true, false]);
  });

  it("is looked at first where something failed, else where something runs", () => {
    const first = (shown: ReturnType<typeof task>) => {
      const rows = taskRows(shown, new Map());
      return names(rows)[firstOfInterest(rows)];
    };
    const hosts = [doneHost("a", 0, 1), runningHost("c", 0)];
    expect(first(task([cluster("IN_PROGRESS", hosts), cluster("IN_PROGRESS", [failed], "cl02")]))).to.equal("3 b");
    expect(first(task([cluster("IN_PROGRESS", hosts), cluster("IN_PROGRESS", hosts, "cl02")]))).to.equal("3 c");
    expect(firstOfInterest([])).to.equal(-1);
  });
});
