import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import type { Measured } from "../../../bench/figure";
import { edited } from "../../../bench/means/make-checkout";
import { compared, editsWithout } from "../../../bench/means/measure-means";
import { allMeans, type Means } from "../../../bench/means/means";

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

  it("compares what is judged, of all runs", () => {
    const [some] = allMeans;
    const means = { ...some, name: "quick", without: "slowly", shownBy: ["read", "size"] } as Means;
    const read = (value: number): Measured => ({
      ...{ id: "read", figure: "A read", value, reference: 10, unit: "ms", judged: "ratio" },
    });
    const size = (value: number): Measured => ({ id: "size", figure: "A size", value, unit: "MB", judged: "value" });
    const without = [read(40), size(300), read(60)];
    expect(compared(means, without, [size(100), read(10), read(30)])).to.deep.equal([
      {
        ...{ id: "read-without-quick", figure: "A read; slowly", unit: "x", judged: "ratio" },
        ...{ value: 5, reference: 2 },
      },
      {
        ...{ id: "size-without-quick", figure: "A size; slowly", unit: "MB", judged: "ratio" },
        ...{ value: 300, reference: 100 },
      },
    ]);
    expect(compared(means, [], [read(10)]), "what could not be measured").to.deep.equal([]);
  });
});
