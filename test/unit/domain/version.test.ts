import { expect } from "chai";
import fc from "fast-check";
import { compareVersions, imageVersion, isProductVersion, isSameVersion } from "../../../src/domain/version";

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
    expect(compareVersions("v3.5", "3.5")).to.equal(0);
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

describe("Versions as vendors write them", () => {
  const same: readonly (readonly string[])[] = [
    ["9.0.1-24957456", "9.0.1-0.24957456", "9.0.1.0.24957456", "9.0.1.0-24957456", "9.0.1.24957456"],
    ["9.0.2.0-25148086", "9.0.2-25148086", "9.0.2-0.0.25148086"],
    ["9.0.1.0.24952111", "9.0.1-24952111"],
    ["8.0.3-0.35.24280767", "8.0.3-24280767"],
  ];
  it("are one version by release and build", () => {
    for (const [i, spellings] of same.entries())
      for (const a of spellings)
        for (const [j, others] of same.entries())
          for (const b of others) expect(isSameVersion(a, b), `${a} and ${b}`).to.equal(i === j);
  });

  it("are compared by release alone where one tells no build", () => {
    expect(isSameVersion("9.0.2.0", "9.0.2.0-25148086")).to.equal(true);
    expect(compareVersions("9.0.1", "9.0.2-25148086")).to.be.lessThan(0);
    expect(compareVersions("8.0.3.00500", "8.0.3.00400")).to.be.greaterThan(0);
    expect(compareVersions("9.0.2.0-25148085", "9.0.2.0.25148086")).to.be.lessThan(0);
  });

  it("become the name of a base image", () => {
    for (const spelling of ["9.0.1-24957456", "9.0.1-0.24957456", "9.0.1.0.24957456", "9.0.1.0-24957456"])
      expect(imageVersion(spelling), spelling).to.equal("9.0.1-0.24957456");
    expect(imageVersion("8.0.3-0.35.24280767")).to.equal("8.0.3-0.35.24280767");
    expect(imageVersion("9.0.1")).to.equal("9.0.1");
  });

  it("are told from what no manager could offer", () => {
    for (const text of ["", "9", "latest", "v9.0.1-24957456", "9.0.1-", "9.0.1 Update 2", "9.0.x-24957456", "9..1"])
      expect(isProductVersion(text, { build: false }), text).to.equal(false);
    for (const text of ["9.0.1", "9.0.1-24957456", "9.0.1-0.24957456", "9.0.1.0.24952111", "8.0.3.00500"])
      expect(isProductVersion(text, { build: false }), text).to.equal(true);
    expect(isProductVersion("9.0.1", { build: true })).to.equal(false);
  });
});
