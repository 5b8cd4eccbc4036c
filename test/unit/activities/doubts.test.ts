import { expect } from "chai";
import { UncertainChanges } from "../../../activities/clusters/baseline/uncertain-changes";
import { DriverError } from "../../../activities/drivers/driver-error";
import { GiveUpError } from "../../../activities/retry-policy";
import { ManualClock } from "../../support/manual-clock";

const minute = 60_000;
const bound = 60 * minute;

describe("Doubts", () => {
  let clock: ManualClock;
  let doubts: UncertainChanges<"busy" | "outage">;

  beforeEach(() => {
    clock = new ManualClock();
    doubts = new UncertainChanges(clock);
  });

  /** The reason arises again and again, for so long. */
  function keepsArising(reason: "busy" | "outage", milliseconds: number): boolean {
    const end = clock.now() + milliseconds;
    let hasLasted = doubts.hasLasted(reason, bound);
    while (clock.now() < end) {
      clock.pass(minute);
      hasLasted = doubts.hasLasted(reason, bound);
    }
    return hasLasted;
  }

  it("last from when their reason first arose, each reason on its own", () => {
    expect(keepsArising("outage", 59 * minute)).to.equal(false);
    expect(doubts.hasLasted("busy", bound)).to.equal(false);
    expect(keepsArising("outage", minute)).to.equal(true);
  });

  it("begin anew where their reason has not arisen for half of the time", () => {
    keepsArising("outage", 40 * minute);
    clock.pass(31 * minute);
    expect(keepsArising("outage", 59 * minute)).to.equal(false);
  });

  it("may pass only where their reason has arisen, and has not lasted", () => {
    expect(doubts.mayPass("outage", bound)).to.equal(false);
    doubts.hasLasted("outage", bound);
    expect(doubts.mayPass("outage", bound)).to.equal(true);
    keepsArising("outage", bound);
    expect(doubts.mayPass("outage", bound)).to.equal(false);
  });

  it("give up with what a request failed with", () => {
    const error = new DriverError({ kind: "transient", code: "CLUSTER_BUSY", message: "Busy.", remediation: "Wait." });
    doubts.giveUpAfter("busy", bound, error);
    keepsArising("busy", bound);
    expect(() => doubts.giveUpAfter("busy", bound, error)).to.throw(GiveUpError, "Busy. Waited for 60 minutes.");
  });
});
