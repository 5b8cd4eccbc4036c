import { expect } from "chai";
import { backOff } from "../../../src/console/model/back-off";

describe("the console's back-off", () => {
  it("doubles up to ten seconds, or up to the usual interval where that is shorter", () => {
    expect([1, 2, 3, 6, 60].map((failures) => backOff(failures))).to.deep.equal([500, 1000, 2000, 10_000, 10_000]);
    expect([1, 2, 3, 4].map((failures) => backOff(failures, 0, 3000))).to.deep.equal([500, 1000, 2000, 3000]);
  });

  it("is never shorter than Retry-After", () => {
    expect(backOff(1, 4, 3000)).to.equal(4000);
    expect(backOff(1, 45)).to.equal(45_000);
    expect(backOff(60, 2)).to.equal(10_000);
  });
});
