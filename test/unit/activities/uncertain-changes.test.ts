import { expect } from "chai";
import { DriverError } from "../../../activities/drivers/driver-error";
import { GiveUpError } from "../../../activities/retry-policy";
import { UncertainChanges } from "../../../activities/uncertain-changes";
import { ManualClock } from "../../support/manual-clock";

const minute = 60_000;
const bound = 60 * minute;

describe("Uncertain changes", () => {
  let clock: ManualClock;
  let uncertain: UncertainChanges<"busy" | "outage">;

  beforeEach(() => {
    clock = new ManualClock();
    uncertain = new UncertainChanges(clock);
  });

  /** The reason arises again and again, for so long. */
  function keepsArising(reason: "busy" | "outage", milliseconds: number): boolean {
    const end = clock.now() + milliseconds;
    let hasLasted = uncertain.hasLasted(reason, bound);
    while (clock.now() < end) {
      clock.pass(minute);
      hasLasted = uncertain.hasLasted(reason, bound);
    }
    return hasLasted;
  }

  it("last from when their reason first arose, each reason on its own", () => {
    expect(keepsArising("outage", 59 * minute)).to.equal(false);
    expect(uncertain.hasLasted("busy", bound)).to.equal(false);
    expect(keepsArising("outage", minute)).to.equal(true);
  });

  it("begin anew where their reason has not arisen for half of the time", () => {
    keepsArising("outage", 40 * minute);
    clock.pass(31 * minute);
    expect(keepsArising("outage", 59 * minute)).to.equal(false);
  });

  it("may pass only where their reason has arisen, and has not lasted", () => {
    expect(uncertain.mayPass("outage", bound)).to.equal(false);
    uncertain.hasLasted("outage", bound);
    expect(uncertain.mayPass("outage", bound)).to.equal(true);
    keepsArising("outage", bound);
    expect(uncertain.mayPass("outage", bound)).to.equal(false);
  });

  it("give up with what a request failed with", () => {
    const error = new DriverError({ kind: "transient", code: "CLUSTER_BUSY", message: "Busy.", remediation: "Wait." });
    uncertain.giveUpAfter("busy", bound, error);
    keepsArising("busy", bound);
    expect(() => uncertain.giveUpAfter("busy", bound, error)).to.throw(GiveUpError, "Busy. Waited for 60 minutes.");
  });
});
