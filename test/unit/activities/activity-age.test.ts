import { expect } from "chai";
import { ActivityAges, type SeenActivity } from "../../../activities/activity-age";

const hour = 3_600_000;

describe("for how long an Activity has been tried", () => {
  const scheduledAt = Date.parse("2026-11-01T12:00:00.000Z");
  let clock: { monotonic: number; day: number; now(): number; timeOfDay(): number };
  const pass = (milliseconds: number) => {
    clock.monotonic += milliseconds;
    clock.day += milliseconds;
  };
  const activity = (activityId = "1"): SeenActivity => ({
    activityId,
    workflowExecution: { workflowId: "upgrade-1", runId: "run-1" },
    scheduledTimestampMs: scheduledAt,
  });

  beforeEach(() => {
    clock = { monotonic: 77, day: scheduledAt + 100, now: () => clock.monotonic, timeOfDay: () => clock.day };
  });

  it("is told by the time of day at first sight, as what another process has begun is", () => {
    clock.day = scheduledAt + 2 * hour;
    expect(new ActivityAges(clock).of(activity())).to.equal(2 * hour);
  });

  for (const [direction, step] of Object.entries({ forward: 5 * hour, back: -5 * hour }))
    it(`does not change where the time of day steps ${direction} during its runs`, () => {
      const ages = new ActivityAges(clock);
      ages.see(activity());
      pass(8_000);
      clock.day += step;
      ages.see(activity());
      expect(ages.of(activity())).to.equal(8_100);
      pass(hour);
      expect(ages.of(activity())).to.equal(hour + 8_100);
    });

  it("is nothing where Temporal's clock is ahead of this machine's", () => {
    clock.day = scheduledAt - hour;
    const ages = new ActivityAges(clock);
    expect(ages.of(activity())).to.equal(0);
    pass(1_000);
    expect(ages.of(activity())).to.equal(1_000);
  });

  it("is kept for a bounded number, of each by itself, and not for what has ended", () => {
    const ages = new ActivityAges(clock);
    for (const id of ["1", "2"]) ages.see(activity(id));
    clock.day += 5 * hour;
    ages.forget(activity("2"));
    expect([ages.of(activity("1")), ages.of(activity("2"))]).to.deep.equal([100, 5 * hour + 100]);
    for (let i = 0; i < 10_000; i++) ages.see(activity(`later-${i}`));
    expect(ages.of(activity("1"))).to.equal(5 * hour + 100);
  });
});
