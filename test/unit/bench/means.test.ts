import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import type { Measured } from "../../../bench/figure";
import { edited } from "../../../bench/means/make-checkout";
import { compared, editsWithout, isApart } from "../../../bench/means/measure-means";
import { allMeans, type Means } from "../../../bench/means/means";
import { tableOfMeans } from "../../../bench/report";

const root = resolve(__dirname, "../../..");

describe("means that the benchmark measures the service without", () => {
  for (const means of allMeans) {
    it(`finds the places of ${means.name} in the sources`, () => {
      const sources = new Map<string, string>();
      for (const edit of editsWithout(means)) {
        const source = sources.get(edit.file) ?? readFileSync(join(root, edit.file), "utf8");
        const changed = edited(source, edit);
        expect(changed).not.to.equal(source);
        sources.set(edit.file, changed);
      }
      expect(means.shownBy).not.to.be.empty;
    });
  }

  it("knows each by one name, and what another one is measured besides", () => {
    const names = allMeans.map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length);
    for (const { besides } of allMeans) if (besides !== undefined) expect(names).to.include(besides);
  });

  it("edits a place that is there once, as it is written", () => {
    const edit = { file: "a.ts", text: "a+(b)", instead: "$&" };
    expect(edited("x a+(b) y", edit)).to.equal("x $& y");
    expect(() => edited("x y", edit)).to.throw("a.ts has a+(b) nowhere");
    expect(() => edited("a+(b) a+(b)", edit)).to.throw("a.ts has a+(b) more than once");
  });

  it("shows each by figures that there are", () => {
    const { figures } = JSON.parse(readFileSync(join(root, "bench/measured.json"), "utf8")) as { figures: Measured[] };
    const known = figures.map(({ id }) => id);
    for (const { name, shownBy } of allMeans) expect(known, name).to.include.members([...shownBy]);
  });

  it("tells two services apart where all runs of one are on one side of the other's", () => {
    expect(isApart({ with: [1, 2], without: [3, 2.5] })).to.equal(true);
    expect(isApart({ with: [0.9, 0.8], without: [0.5, 0.7] })).to.equal(true);
    expect(isApart({ with: [1, 3], without: [2, 4] })).to.equal(false);
    const row = { means: "quick", id: "read", figure: "A read; slowly", unit: "x" };
    expect(tableOfMeans([{ ...row, with: [1, 3], without: [2, 4] }])).to.match(
      /1\.00 to 3\.00 x.*2\.00 to 4\.00 x.*NOT TOLD/,
    );
    expect(tableOfMeans([{ ...row, with: [1], without: [4] }])).not.to.contain("NOT");
  });

  it("compares what is judged, of all runs", () => {
    const [some] = allMeans;
    const means = { ...some, name: "quick", without: "slowly", shownBy: ["read", "size"] } as Means;
    const read = (value: number): Measured => ({
      ...{ id: "read", figure: "A read", value, reference: 10, unit: "ms", judged: "ratio" },
    });
    const size = (value: number): Measured => ({ id: "size", figure: "A size", value, unit: "MB", judged: "value" });
    const without = [read(40), size(300), read(60)];
    expect(compared(means, [size(100), read(10), read(30)], without)).to.deep.equal([
      { means: "quick", id: "read", figure: "A read; slowly", unit: "x", with: [1, 3], without: [4, 6] },
      { means: "quick", id: "size", figure: "A size; slowly", unit: "MB", with: [100], without: [300] },
    ]);
    expect(compared(means, [read(10)], without), "a run is missing").to.deep.equal([]);
  });
});
