import { expect } from "chai";
import { StallWatch } from "../../../activities/mgmt/change-request";
import { ManualClock } from "../../support/manual-clock";

const progress = (completed: number) => ({
  progress: { total: 100, completed, message: { id: "", default_message: "", args: [] } },
});

describe("how long a management server has made no progress", () => {
  it("counts from the last change of its state or progress", () => {
    const clock = new ManualClock();
    const stallWatch = new StallWatch(clock);
    expect(stallWatch.look("STAGING", progress(1))).to.equal(0);
    clock.pass(5_000);
    expect(stallWatch.look("STAGING", progress(1))).to.equal(5_000);
    expect(stallWatch.look("STAGING", progress(2))).to.equal(0);
    clock.pass(1_000);
    expect(stallWatch.look("PREPARING", progress(2))).to.equal(0);
  });

  it("does not count the time in which it could not be looked at", () => {
    const clock = new ManualClock();
    const stallWatch = new StallWatch(clock);
    stallWatch.look("STAGING", progress(1));
    clock.pass(3_600_000);
    stallWatch.blind();
    clock.pass(2_000);
    expect(stallWatch.look("STAGING", progress(1))).to.equal(2_000);
  });
});
