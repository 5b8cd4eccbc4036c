import { expect } from "chai";
import fc from "fast-check";
import { afterAnswer, clockOffset, unknownClock } from "../../../src/console/model/server-clock";

/** What a browser sees of a service whose clock is ahead by so many milliseconds. */
const answer = (ahead: number, sent: number, made: number, received: number) => ({
  sent,
  received,
  date: Math.floor((made + ahead) / 1000) * 1000,
});

describe("the service's clock, as the console reckons it", () => {
  it("is the browser's until an answer says otherwise", () => {
    expect(clockOffset(unknownClock)).to.equal(0);
    expect(clockOffset(afterAnswer(unknownClock, answer(0, 10_100, 10_150, 10_200)))).to.equal(0);
  });

  it("is never further away than the truth, and within a second and the time of an answer of it", () => {
    const times = fc.array(
      fc.record({ sent: fc.integer({ min: 1e6, max: 1e7 }), way: fc.nat(300), back: fc.nat(300) }),
      {
        minLength: 1,
      },
    );
    fc.assert(
      fc.property(fc.integer({ min: -1e8, max: 1e8 }), times, (ahead, asked) => {
        const bounds = asked
          .map(({ sent, way, back }) => answer(ahead, sent, sent + way, sent + way + back))
          .reduce(afterAnswer, unknownClock);
        const offset = clockOffset(bounds);
        expect(Math.abs(offset)).to.be.at.most(Math.abs(ahead));
        expect(Math.abs(ahead - offset)).to.be.at.most(1600);
      }),
    );
  });

  it("starts afresh when a clock is set", () => {
    const before = afterAnswer(unknownClock, answer(7_200_000, 50_000, 50_010, 50_020));
    expect(clockOffset(before)).to.be.within(7_198_900, 7_200_000);
    expect(clockOffset(afterAnswer(before, answer(0, 60_000, 60_010, 60_020)))).to.equal(0);
  });
});
