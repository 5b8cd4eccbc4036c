import { expect } from "chai";
import fc from "fast-check";
import { compareVersions } from "../../../src/domain/version";

describe("compareVersions", () => {
  it("orders versions number by number", () => {
    const ascending = [
      "",
      "3",
      "3.4.9",
      "3.5",
      "3.10",
      "9.0.0-0.24755229",
      "9.0.1-0.24755229",
      "9.0.1-0.24957456",
      "9.0.2-0.1",
      "10.0",
    ];
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) {
        expect(Math.sign(compareVersions(a, b)), `${a} and ${b}`).to.equal(Math.sign(i - j));
      }
    }
  });

  it("counts missing numbers as 0 and skips what is no number", () => {
    expect(compareVersions("3.5", "3.5.0.0")).to.equal(0);
    expect(compareVersions("v3.5", "3-5")).to.equal(0);
    expect(compareVersions("3.05", "3.5")).to.equal(0);
  });

  it("is an order", () => {
    const version = fc.array(fc.nat(20), { maxLength: 4 }).map((numbers) => numbers.join("."));
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b))).to.equal(0 - Math.sign(compareVersions(b, a)));
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) expect(compareVersions(a, c)).to.be.at.most(0);
      }),
    );
  });
});
