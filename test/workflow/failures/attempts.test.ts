import { Context } from "@temporalio/activity";
import { expect } from "chai";
import type { HostosUpgradeFailureAction } from "../../../src/domain/spec/upgrade-spec";
import {
  activityFailure,
  FakeActivities,
  hostFailure,
  type OneHostInput,
  upgraded,
} from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const failed = "Failed / COMPLETED_WITH_FAILURE";

/** Activities in which each host fails so often before it is upgraded, and the times of its attempts. */
class FailingHosts {
  /** Milliseconds on the server's clock, by host. */
  readonly attempts = new Map<string, number[]>();
  readonly fake: FakeActivities;

  constructor(now: () => Promise<number>, failures: number, hosts = 1) {
    this.fake = new FakeActivities(
      {
        remediateHost: async (input: OneHostInput) => {
          const times = [...(this.attempts.get(input.host.host) ?? []), await now()];
          this.attempts.set(input.host.host, times);
          // Always as retryable: it is for the retry policy to end it.
          if (times.length <= failures) throw hostFailure({ ...input, attempts: unlimited });
          return upgraded(input);
        },
      },
      hosts,
    );
  }

  /** Seconds between the attempts of a host. */
  delays(host = "host-1"): number[] {
    const times = this.attempts.get(host) ?? [];
    return times.slice(1).map((time, i) => Math.round((time - times[i]!) / 1000));
  }
}

const unlimited = { maximumAttempts: 1000, retryDelay: 0 };

describe("Attempts of a host", function () {
  this.timeout(30_000);
  const bench = useBench("TIME_SKIPPING");

  const failing = (failures: number, hosts = 1) => new FailingHosts(() => bench().now(), failures, hosts);

  const start = (action: HostosUpgradeFailureAction | undefined, fake: FakeActivities, count = 1) =>
    bench().upgrade(
      {
        resources: clusters(count).map((cluster) => ({
          ...cluster,
          ...(action && { hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: action } }),
        })),
      },
      fake,
    );

  /** The retry policies with which Activities of the first cluster were scheduled, by their ids or summaries. */
  async function policiesOf(upgrade: RunningUpgrade): Promise<Record<string, unknown>[]> {
    return (await upgrade.events(0)).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
      const { maximumAttempts, initialInterval, maximumInterval, backoffCoefficient } = scheduled?.retryPolicy ?? {};
      if (!["putRemediationPolicy", "setDesiredImage", "remediateHosts"].includes(scheduled?.activityType?.name ?? ""))
        return [];
      return [
        {
          maximumAttempts,
          backoffCoefficient,
          initialInterval: Number(initialInterval?.seconds),
          maximumInterval: Number(maximumInterval?.seconds),
        },
      ];
    });
  }

  it("are one more than retryCount, retryDelay apart, and then the host has failed", async () => {
    const hosts = failing(100);
    const upgrade = await start({ action: "RETRY", retryCount: 3, retryDelay: 300 }, hosts.fake);
    expect(await upgrade.end()).to.equal("FAILED");
    expect(hosts.delays()).to.deep.equal([300, 300, 300]);
    expect(await upgrade.hosts()).to.deep.equal(["FAILED"]);
    expect((await upgrade.task()).errors?.[0]?.nestedErrors?.[0]?.errorCode).to.equal("HOST_REMEDIATION_FAILED");
  });

  it("can be seen in the retry policy of every Activity that changes something", async () => {
    const upgrade = await start({ action: "RETRY", retryCount: 3, retryDelay: 300 }, new FakeActivities({}, 1));
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await policiesOf(upgrade)).to.deep.equal(
      Array(3).fill({ maximumAttempts: 4, backoffCoefficient: 1, initialInterval: 300, maximumInterval: 300 }),
    );
  });

  it("end with the one that succeeds, be it the last", async () => {
    const hosts = failing(3);
    const upgrade = await start({ action: "RETRY", retryCount: 3, retryDelay: 300 }, hosts.fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(hosts.delays()).to.deep.equal([300, 300, 300]);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL"]);
  });

  it("are counted for each host alone", async () => {
    const hosts = failing(2, 3);
    const upgrade = await start({ action: "RETRY", retryCount: 2, retryDelay: 60 }, hosts.fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    for (const host of ["host-1", "host-2", "host-3"]) expect(hosts.delays(host)).to.deep.equal([60, 60]);
  });

  it("follow each other at once where retryDelay is 0, and are one where retryCount is 0", async () => {
    const [atOnce, once] = [failing(100), failing(100)];
    const upgrades = await Promise.all([
      start({ action: "RETRY", retryCount: 2, retryDelay: 0 }, atOnce.fake),
      start({ action: "RETRY", retryCount: 0, retryDelay: 300 }, once.fake),
    ]);
    await Promise.all(upgrades.map((upgrade) => upgrade.untilStatuses(failed)));
    expect(atOnce.delays()).to.deep.equal([0, 0]);
    expect(once.attempts.get("host-1")).to.have.length(1);
  });

  it("are four, 300 s apart, where RETRY says no numbers", async () => {
    const hosts = failing(100);
    const upgrade = await start({ action: "RETRY" }, hosts.fake);
    expect(await upgrade.end()).to.equal("FAILED");
    expect(hosts.delays()).to.deep.equal([300, 300, 300]);
  });

  it("are one with FAIL, whatever count it gives, and without a failure action", async () => {
    const [fail, none] = [failing(100), failing(100)];
    const upgrades = await Promise.all([
      start({ action: "FAIL", retryCount: 5, retryDelay: 10 }, fail.fake),
      start(undefined, none.fake),
    ]);
    await Promise.all(upgrades.map((upgrade) => upgrade.untilStatuses(failed)));
    expect([fail, none].map(({ attempts }) => attempts.get("host-1")?.length)).to.deep.equal([1, 1]);
    expect((await policiesOf(upgrades[0]))[0]).to.include({ maximumAttempts: 1 });
  });

  it("end at once with a failure that no attempt can mend", async () => {
    const fake = new FakeActivities({
      remediateHost: () => Promise.reject(activityFailure("HOST_NOT_IN_CLUSTER")),
    });
    const upgrade = await start({ action: "RETRY", retryCount: 3, retryDelay: 300 }, fake);
    await upgrade.untilStatuses(failed);
    expect(fake.remediations).to.have.length(1);
  });

  it("are the same for setting the image of a cluster", async () => {
    const times: number[] = [];
    const fake = new FakeActivities({
      setDesiredImage: async () => {
        times.push(await bench().now());
        if (Context.current().info.attempt < 3) throw activityFailure("IMAGE_NOT_VALID", { nonRetryable: false });
        return { changed: true };
      },
    });
    const upgrade = await start({ action: "RETRY", retryCount: 2, retryDelay: 600 }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(times.map((time) => Math.round((time - times[0]!) / 1000))).to.deep.equal([0, 600, 1200]);
  });
});
