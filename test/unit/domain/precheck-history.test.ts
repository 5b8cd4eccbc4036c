import { expect } from "chai";
import type { SubTask, SubTaskStatus } from "../../../src/domain/spec/task";
import { keepRuns } from "../../../src/domain/task/prechecks";

const part = (name: string, status: SubTaskStatus, subTasks?: SubTask[]): SubTask => ({
  name,
  type: "PRECHECKS",
  description: "Check.",
  status,
  creationTimestamp: "2026-11-01T00:00:00.000Z",
  ...(subTasks && { subTasks }),
});

/** A run of so many resources, of which the last one failed. */
const run = (name: string, resources: number): SubTask =>
  part(
    name,
    "FAILED",
    Array.from({ length: resources }, (_, i) => part(`${name}-${i}`, i === resources - 1 ? "FAILED" : "SUCCESSFUL")),
  );

describe("keepRuns", () => {
  it("keeps the runs of a small draft whole, however many", () => {
    const runs = Array.from({ length: 40 }, (_, i) => run(`run ${i}`, 3));
    expect(keepRuns(runs)).to.deep.equal(runs);
  });

  it("keeps every run of a large draft, the latest ones whole, and failed resources before others", () => {
    const kept = keepRuns([run("first", 100), run("second", 100), run("third", 100)]);
    expect(kept.map(({ name, status, subTasks = [] }) => [name, status, subTasks.length])).to.deep.equal([
      ["first", "FAILED", 0],
      ["second", "FAILED", 28],
      ["third", "FAILED", 100],
    ]);
    expect(kept[1]?.subTasks?.some(({ status }) => status === "FAILED")).to.equal(true);
    expect(kept[1]?.description).to.contain("Some resources");
    expect(keepRuns(kept)).to.deep.equal(kept);
  });
});
