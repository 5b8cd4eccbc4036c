import { expect } from "chai";
import type { Measurement } from "../../../bench/measurement";
import { formatRow, formatTable } from "../../../bench/report";

const measurement = (changes: Partial<Measurement>): Measurement => ({
  id: "read",
  title: "A read",
  value: 240,
  reference: 100,
  unit: "ms",
  judged: "ratio",
  ...changes,
});

describe("table of the benchmark", () => {
  it("says of each figure whether its target is reached", () => {
    expect(formatRow(measurement({ target: { atMost: 2.5 } }))).to.deep.equal([
      ...["A read", "240 ms", "100 ms", "2.40 x", "at most 2.5 x", "reached"],
    ]);
    expect(formatRow(measurement({ target: { atMost: 1.2 } })).at(-1)).to.equal("MISSED");
    expect(formatRow(measurement({ target: { atLeast: 2.5 } })).slice(-2)).to.deep.equal(["at least 2.5 x", "MISSED"]);
  });

  it("judges a difference and a value by their own unit", () => {
    const more = measurement({ judged: "difference", unit: "MB", target: { atMost: 150 } });
    expect(formatRow(more).slice(3)).to.deep.equal(["140 MB more", "at most 150 MB", "reached"]);
    const { reference: _, ...alone } = measurement({ judged: "value", value: 0, target: { atMost: 0 }, unit: "" });
    expect(formatRow(alone).slice(1)).to.deep.equal(["0", "", "", "at most 0", "reached"]);
  });

  it("lets nothing that could not be measured reach a target", () => {
    expect(formatRow(measurement({ value: NaN, target: { atMost: 2 } })).at(-1)).to.equal("MISSED");
  });

  it("only tells a number without a target", () => {
    expect(formatRow(measurement({})).slice(-2)).to.deep.equal(["", ""]);
  });

  it("has a row for each figure", () => {
    const table = formatTable([measurement({}), measurement({ title: "Another" })]);
    expect(table).to.include("A read").and.to.include("Another").and.to.include("reference");
  });
});
