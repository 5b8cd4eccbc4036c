import { expect } from "chai";
import { StallTimer } from "../../../activities/stall-timer";
import { ManualClock } from "../../support/manual-clock";

describe("how long something has made no progress", () => {
  let clock: ManualClock;
  let timer: StallTimer;

  beforeEach(() => {
    clock = new ManualClock();
    timer = new StallTimer(clock);
  });

  it("counts from the last change of what is seen", () => {
    expect(timer.look(["STAGING", 1])).to.equal(true);
    clock.pass(5_000);
    expect(timer.look(["STAGING", 1])).to.equal(false);
    expect(timer.stalledFor).to.equal(5_000);
    expect(timer.look(["STAGING", 2])).to.equal(true);
    expect(timer.stalledFor).to.equal(0);
  });

  it("does not count the time in which it could not be looked at", () => {
    timer.look(["STAGING", 1]);
    clock.pass(3_600_000);
    timer.blind();
    clock.pass(2_000);
    timer.look(["STAGING", 1]);
    expect(timer.stalledFor).to.equal(2_000);
  });

  it("does not count the time until a read is answered, but that between two reads", async () => {
    const read = () => timer.uncounted(() => Promise.resolve(clock.pass(60_000)));
    await read();
    timer.look(["STAGING", 1]);
    clock.pass(2_000);
    await read();
    timer.look(["STAGING", 1]);
    expect(timer.stalledFor).to.equal(2_000);
  });
});
