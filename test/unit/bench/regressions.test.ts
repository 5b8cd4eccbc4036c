import { expect } from "chai";
import { findRegressions, findUnstored, pickBetter, toRatios } from "../../../bench/regressions";
import type { Measurement } from "../../../bench/measurement";

const measurement = (changes: Partial<Measurement>): Measurement => ({
  id: "time",
  title: "A time",
  value: 130,
  reference: 100,
  unit: "ms",
  judged: "ratio",
  target: { atMost: 1.2 },
  steady: true,
  ...changes,
});
const throughput = (value: number) => measurement({ id: "throughput", value, target: { atLeast: 0.85 } });

describe("ratios of the benchmark against stored ones", () => {
  it("finds a time that has become longer by more than a quarter, and no other", () => {
    expect(findRegressions([measurement({ value: 126 })], { time: 1 })).to.deep.equal([
      { id: "time", stored: 1, now: 1.26 },
    ]);
    expect(findRegressions([measurement({ value: 124 })], { time: 1 })).to.deep.equal([]);
    expect(findRegressions([measurement({ value: 10 })], { time: 1 })).to.deep.equal([]);
  });

  it("finds a throughput that has become smaller by more than a quarter, and none that has grown", () => {
    expect(findRegressions([throughput(79)], { throughput: 1 }).map(({ id }) => id)).to.deep.equal(["throughput"]);
    expect(findRegressions([throughput(81)], { throughput: 1 })).to.deep.equal([]);
    expect(findRegressions([throughput(300)], { throughput: 1 })).to.deep.equal([]);
  });

  it("takes a figure that could not be measured for a step", () => {
    expect(findRegressions([measurement({ value: NaN })], { time: 1 }).map(({ id }) => id)).to.deep.equal(["time"]);
  });

  it("leaves out what is not steady and what nobody has stored", () => {
    const { steady: _, ...unsteady } = measurement({ value: 900 });
    expect(findRegressions([unsteady, measurement({ id: "new", value: 900 })], { time: 1 })).to.deep.equal([]);
    expect(findUnstored([unsteady, measurement({ id: "new" }), measurement({})], { time: 1 })).to.deep.equal(["new"]);
    expect(toRatios([unsteady, measurement({ id: "kept", value: 130 })])).to.deep.equal({ kept: 1.3 });
  });

  it("lets the better of two measurements count, also where more is better", () => {
    const better = pickBetter(
      [measurement({ value: 200 }), throughput(50)],
      [measurement({ value: 150 }), throughput(70)],
    );
    expect(better.map(({ value }) => value)).to.deep.equal([150, 70]);
    expect(pickBetter([measurement({ value: 200 })], [])).to.deep.equal([measurement({ value: 200 })]);
  });
});
