import { expect } from "chai";
import { betterOf, ratiosOf, stepsOf } from "../../../bench/compare-ratios";
import type { Measured } from "../../../bench/figure";

const figure = (changes: Partial<Measured>): Measured => ({
  id: "time",
  figure: "A time",
  value: 130,
  reference: 100,
  unit: "ms",
  judged: "ratio",
  target: { atMost: 1.2 },
  steady: true,
  ...changes,
});
const throughput = (value: number) => figure({ id: "throughput", value, target: { atLeast: 0.85 } });

describe("ratios of the benchmark against stored ones", () => {
  it("finds a time that has become longer by more than a quarter, and no other", () => {
    expect(stepsOf([figure({ value: 126 })], { time: 1 })).to.deep.equal([{ id: "time", stored: 1, now: 1.26 }]);
    expect(stepsOf([figure({ value: 124 })], { time: 1 })).to.deep.equal([]);
    expect(stepsOf([figure({ value: 10 })], { time: 1 })).to.deep.equal([]);
  });

  it("finds a throughput that has become smaller by more than a quarter, and none that has grown", () => {
    expect(stepsOf([throughput(79)], { throughput: 1 }).map(({ id }) => id)).to.deep.equal(["throughput"]);
    expect(stepsOf([throughput(81)], { throughput: 1 })).to.deep.equal([]);
    expect(stepsOf([throughput(300)], { throughput: 1 })).to.deep.equal([]);
  });

  it("takes a figure that could not be measured for a step", () => {
    expect(stepsOf([figure({ value: NaN })], { time: 1 }).map(({ id }) => id)).to.deep.equal(["time"]);
  });

  it("leaves out what is not steady and what nobody has stored", () => {
    const { steady: _, ...unsteady } = figure({ value: 900 });
    expect(stepsOf([unsteady, figure({ id: "new", value: 900 })], { time: 1 })).to.deep.equal([]);
    expect(ratiosOf([unsteady, figure({ id: "kept", value: 130 })])).to.deep.equal({ kept: 1.3 });
  });

  it("lets the better of two measurements count, also where more is better", () => {
    const better = betterOf([figure({ value: 200 }), throughput(50)], [figure({ value: 150 }), throughput(70)]);
    expect(better.map(({ value }) => value)).to.deep.equal([150, 70]);
    expect(betterOf([figure({ value: 200 })], [])).to.deep.equal([figure({ value: 200 })]);
  });
});
