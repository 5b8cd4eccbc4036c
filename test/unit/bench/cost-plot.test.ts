import { expect } from "chai";
import { costPlot } from "../../../bench/cost-plot";
import { parseXml } from "../../../src/xml";

const points = [
  { hosts: 64, ours: 2, reference: 0.5 },
  { hosts: 256, ours: 8, reference: 1 },
  { hosts: 1024, ours: 32, reference: 2 },
];

describe("plot of the cost of an upgrade", () => {
  const drawing = costPlot(points);
  const parsed = parseXml(drawing) as unknown as { svg: { polyline: { "@class": string; "@points": string }[] } };
  const lineOf = (name: string) =>
    (parsed.svg.polyline.find((line) => line["@class"] === name)?.["@points"] ?? "")
      .split(" ")
      .map((place) => place.split(",").map(Number) as [number, number]);

  it("is well-formed and in the drawing's bounds", () => {
    expect(() => parseXml(drawing)).to.not.throw();
    for (const [x, y] of [...lineOf("ours"), ...lineOf("reference")]) {
      expect(x).to.be.within(0, 640);
      expect(y).to.be.within(0, 360);
    }
  });

  it("draws what grows in proportion as a straight line, and what costs more above", () => {
    const [first, second, third] = lineOf("ours");
    expect((third?.[1] ?? 0) - (second?.[1] ?? 0)).to.be.closeTo((second?.[1] ?? 0) - (first?.[1] ?? 0), 0.2);
    expect(lineOf("ours")[2]?.[1]).to.be.below(lineOf("reference")[2]?.[1] ?? 0);
  });
});
