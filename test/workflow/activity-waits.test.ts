import { expect } from "chai";
import { FakeActivities } from "../support/fake-activities";
import type { RunningUpgrade } from "../support/running-upgrade";
import { useBench } from "../support/upgrade-bench";

describe("How long Activities are tried that use up no attempt", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** Seconds from the first try to the last, by Activity Type. */
  async function limits(upgrade: RunningUpgrade): Promise<Record<string, number>> {
    const events = [...(await upgrade.events()), ...(await upgrade.events(0))];
    return Object.fromEntries(
      events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled ? [[scheduled.activityType?.name, Number(scheduled.scheduleToCloseTimeout?.seconds)]] : [],
      ),
    );
  }

  it("is what the plan says", async () => {
    const waits = { readMinutes: 5, precheckMinutes: 9, restoreHours: 2, takeBackHours: 1 };
    const upgrade = await bench().upgrade({ waits }, new FakeActivities({}, 1));
    await upgrade.end();
    expect(await limits(upgrade)).to.include({
      runClusterPrechecks: 9 * 60,
      readClusterHosts: 5 * 60,
      readRemediationPolicy: 5 * 60,
      restoreRemediationPolicy: 2 * 3600,
    });
  });

  it("is an hour for prechecks, half an hour for reads and a day for a restore in a plan that does not say", async () => {
    const upgrade = await bench().upgrade({}, new FakeActivities({}, 1));
    await upgrade.end();
    expect(await limits(upgrade)).to.include({
      runClusterPrechecks: 3600,
      readClusterHosts: 1800,
      restoreRemediationPolicy: 24 * 3600,
    });
  });
});
