import { expect } from "chai";
import { distanceWords, durationWords, leftWords, roughDuration } from "../../../src/domain/duration";

const [second, minute, hour] = [1000, 60_000, 3_600_000];

describe("lengths of time in words", () => {
  it("are told in their two largest units, without those that are zero", () => {
    const lengths = [0, 8 * second, 200 * second, 125 * minute, 42 * hour, 48 * hour, hour + 5 * second];
    expect(lengths.map(durationWords)).to.deep.equal([
      ...["0 s", "8 s", "3 min 20 s", "2 h 5 min", "1 d 18 h", "2 d", "1 h"],
    ]);
    expect([59_600, hour - 400].map(durationWords), "rounded before they are divided").to.deep.equal(["1 min", "1 h"]);
  });

  it("are rough where seconds do not matter", () => {
    expect([59_999, 200 * second, 125 * minute].map(roughDuration)).to.deep.equal([
      "under 1 min",
      "3 min",
      "2 h 5 min",
    ]);
    expect([30 * second, 200 * second].map(leftWords)).to.deep.equal(["almost done", "about 3 min left"]);
  });

  it("are distances from now", () => {
    const distances = [42 * hour, 125 * minute, 3 * minute, 8 * second, 0, -179 * second, -26 * hour];
    expect(distances.map((distance) => distanceWords(distance, 0))).to.deep.equal([
      ...["in 1 d 18 h", "in 2 h 5 min", "in 3 min", "in 8 s", "now", "2 min ago", "1 d 2 h ago"],
    ]);
  });
});
