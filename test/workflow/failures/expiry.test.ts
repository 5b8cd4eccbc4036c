import { expect } from "chai";
import { FakeActivities, hostFailure, upgraded } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { useBench } from "../../support/upgrade-bench";

const [minute, day] = [60_000, 86_400_000];
const failed = "Failed / COMPLETED_WITH_FAILURE";

describe("A failed upgrade that nobody decides about", function () {
  this.timeout(30_000);
  const bench = useBench("TIME_SKIPPING");

  async function failedUpgrade(options: { resolutionDays?: number } = {}) {
    const hosts = { broken: true };
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (hosts.broken) throw hostFailure(input);
          return upgraded(input);
        },
      },
      1,
    );
    const upgrade = await bench().upgrade(options, fake);
    await upgrade.untilStatuses(failed);
    return { upgrade, hosts, failedAt: await bench().now() };
  }

  async function expectGivenUp(upgrade: RunningUpgrade, from: number, days: number): Promise<void> {
    expect(await upgrade.end()).to.equal("FAILED");
    const { closeTime } = await upgrade.handle.describe();
    const open = Number(closeTime) - from;
    expect(open, "milliseconds until it closed").to.be.within(days * day - minute, days * day + minute);
    expect(await upgrade.statuses()).to.equal(failed);
    const { task } = await upgrade.memo();
    expect([task.status, task.isRetryable, task.isCancellable, task.resolutionStatus]).to.deep.equal([
      "Failed",
      false,
      false,
      "UNRESOLVED",
    ]);
  }

  it("closes as failed after seven days, unresolved and past retrying", async () => {
    const { upgrade, failedAt } = await failedUpgrade();
    await bench().passTime(7 * day - 2 * minute);
    expect((await upgrade.task()).isRetryable).to.equal(true);
    await expectGivenUp(upgrade, failedAt, 7);
  });

  it("waits as many days as its plan says", async () => {
    const { upgrade, failedAt } = await failedUpgrade({ resolutionDays: 2 });
    await expectGivenUp(upgrade, failedAt, 2);
  });

  it("can be retried on the sixth day, and its days are not counted on", async () => {
    const { upgrade, hosts } = await failedUpgrade();
    await bench().passTime(6 * day);
    hosts.broken = false;
    expect((await upgrade.ask("retry")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect((await upgrade.task()).resolutionStatus).to.equal("RESOLVED");
  });

  it("gets all of its days again where a retry has failed as well", async () => {
    const { upgrade } = await failedUpgrade();
    await bench().passTime(6 * day);
    await upgrade.ask("retry");
    await upgrade.untilStatuses(failed);
    await expectGivenUp(upgrade, await bench().now(), 7);
    expect((await upgrade.task()).errors).to.have.length(2);
  });
});
