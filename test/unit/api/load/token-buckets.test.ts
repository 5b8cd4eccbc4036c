import { expect } from "chai";
import * as fc from "fast-check";
import { TokenBuckets } from "../../../../src/api/load/token-buckets";

describe("token buckets", () => {
  let now = 0;
  const buckets = (perMinute: number, keys = 100) => new TokenBuckets({ perMinute, keys, now: () => now });

  beforeEach(() => (now = 5000));

  it("give each key its own number, and say when there is another one", () => {
    const limited = buckets(3);
    expect([1, 2, 3, 4].map(() => limited.take("a"))).to.deep.equal([0, 0, 0, 20]);
    expect(limited.take("b")).to.equal(0);
    now += 12_500;
    expect(limited.take("a")).to.equal(8);
    now += 7500;
    expect([limited.take("a"), limited.take("a")]).to.deep.equal([0, 20]);
  });

  it("say a second at least, and save up for a minute at most", () => {
    const quick = buckets(600);
    for (let i = 0; i < 600; i++) expect(quick.take("a")).to.equal(0);
    expect(quick.take("a")).to.equal(1);
    now += 3_600_000;
    for (let i = 0; i < 600; i++) expect(quick.take("a")).to.equal(0);
    expect(quick.take("a")).to.equal(1);
  });

  it("forget the key that was not seen for longest, and never more keys than they may remember", () => {
    const limited = buckets(1, 3);
    for (const key of ["a", "b", "c", "a", "d"]) limited.take(key);
    expect(limited.size).to.equal(3);
    expect(limited.take("a"), "seen after b").to.be.above(0);
    expect(limited.take("b"), "forgotten").to.equal(0);
    for (let i = 0; i < 10_000; i++) limited.take(`address ${i}`);
    expect(limited.size).to.equal(3);
  });

  it("let through no more than the rate and a full bucket, and whoever waits as they say gets through", () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.array(fc.nat(30_000), { maxLength: 100 }),
        (perMinute, pauses) => {
          const began = now;
          const limited = buckets(perMinute);
          let passed = 0;
          for (const milliseconds of pauses) {
            now += milliseconds;
            const seconds = limited.take("a");
            if (seconds === 0) passed += 1;
            else {
              now += seconds * 1000;
              expect(limited.take("a")).to.equal(0);
              passed += 1;
            }
          }
          expect(passed).to.be.at.most(perMinute + ((now - began) * perMinute) / 60_000 + 1e-6);
        },
      ),
    ));
});
