import { expect } from "chai";
import { parseStat, processorSeconds, ticksOfTrees } from "../../../bench/process-usage";

describe("processor time of processes", () => {
  it("is read whatever the program is called", () => {
    const rest = "S 41 42 42 0 -1 4194560 1 2 3 4 500 60 7 8 20 0 1 0 900 1 1";
    const expected = { pid: 42, parent: 41, ticks: 575 };
    expect(parseStat(`42 (postgres) ${rest}`)).to.deep.equal(expected);
    expect(parseStat(`42 (a ) S (b) ${rest}`)).to.deep.equal(expected);
  });

  it("is that of a process with all its descendants", () => {
    const running = [
      { pid: 1, parent: 0, ticks: 1000 },
      { pid: 10, parent: 1, ticks: 10 },
      { pid: 11, parent: 10, ticks: 5 },
      { pid: 12, parent: 11, ticks: 3 },
      { pid: 20, parent: 1, ticks: 400 },
    ];
    expect(ticksOfTrees(running, [10])).to.equal(18);
    expect(ticksOfTrees(running, [12, 20])).to.equal(403);
    expect(ticksOfTrees(running, [])).to.equal(0);
  });

  it("is no number of a process that has ended", () => {
    expect(ticksOfTrees([{ pid: 1, parent: 0, ticks: 7 }], [1, 2])).to.be.NaN;
  });

  it("grows while this process works", () => {
    const before = processorSeconds([process.pid]);
    expect(before).to.be.above(0);
    while (processorSeconds([process.pid]) - before < 0.05);
  });
});
