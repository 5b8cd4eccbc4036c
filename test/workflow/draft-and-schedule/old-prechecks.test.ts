import { expect } from "chai";
import type { PrecheckOptions, ClusterTarget } from "../../../activities/contract";
import { eventually } from "../../support/eventually";
import { failedCheck, FakeActivities, passedCheck } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const failed = "Failed / COMPLETED_WITH_FAILURE";

describe("Prechecks of an upgrade that has waited", function () {
  this.timeout(30_000);
  const bench = useBench("TIME_SKIPPING");

  /** Activities whose prechecks of the given clusters fail from their second run on. */
  function failingLater(...resourceIds: (string | undefined)[]): FakeActivities {
    const runs = new Map<string, number>();
    return new FakeActivities(
      {
        runClusterPrechecks: async ({ cluster: { resourceId } }) => {
          runs.set(resourceId, (runs.get(resourceId) ?? 0) + 1);
          return {
            stages: runs.get(resourceId)! > 1 && resourceIds.includes(resourceId) ? failedCheck() : passedCheck(),
          };
        },
      },
      1,
    );
  }

  async function committedAfter(milliseconds: number, fake = new FakeActivities({}, 1)): Promise<RunningUpgrade> {
    const upgrade = await bench().upgrade({ draft: true }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    await bench().passTime(milliseconds);
    await upgrade.handle.signal("commit");
    return upgrade;
  }

  const callsOf = (upgrade: RunningUpgrade) => upgrade.fake.calls.map((call) => call.split(" ")[0]);
  const partsOf = async (upgrade: RunningUpgrade) =>
    ((await upgrade.task()).subTasks ?? []).map(({ name, status }) => `${name}: ${status}`);

  it("are relied on within an hour", async () => {
    const upgrade = await committedAfter(50 * minute);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(callsOf(upgrade).filter((call) => call === "prechecks")).to.have.length(1);
  });

  it("run again after more than an hour, before anything is touched", async () => {
    const upgrade = await committedAfter(2 * hour);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(callsOf(upgrade).slice(0, 3)).to.deep.equal(["prechecks", "prechecks", "readHosts"]);
    expect(await partsOf(upgrade)).to.deep.equal([
      "Prechecks: SUCCESSFUL",
      "Prechecks, run 2: SUCCESSFUL",
      "Upgrade HOSTOS: SUCCESSFUL",
    ]);
  });

  it("end the upgrade where they fail then, with nothing touched and no lock held", async () => {
    const resources = clusters(1);
    const fake = failingLater(resources[0]?.resourceId);
    const upgrade = await bench().upgrade({ draft: true, resources }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    await bench().passTime(2 * hour);
    await upgrade.handle.signal("commit");
    await upgrade.untilStatuses(failed);
    expect(fake.changes).to.deep.equal([]);
    expect(await upgrade.childEnd()).to.equal("CANCELLED");
    expect((await upgrade.task()).errors?.map(({ errorCode }) => errorCode)).to.deep.equal(["PRECHECKS_FAILED"]);
    expect(await partsOf(upgrade)).to.deep.equal([
      "Prechecks: SUCCESSFUL",
      "Prechecks, run 2: FAILED",
      "Upgrade HOSTOS: NOT_APPLICABLE",
    ]);
  });

  it("also release the clusters whose time is still to come, as long as none has begun", async () => {
    const resources = clusters(2);
    const [soon, late] = [await bench().inTime(2 * hour), await bench().inTime(day)];
    const timed = resources.map((cluster, i) => ({ ...cluster, scheduledTimestamp: i === 0 ? soon : late }));
    const upgrade = await bench().upgrade({ resources: timed }, failingLater(resources[0]?.resourceId));
    await upgrade.untilStatuses("Pending / SCHEDULED");
    await bench().passTime(3 * hour);
    await upgrade.untilStatuses(failed);
    expect(upgrade.fake.changes).to.deep.equal([]);
    expect(await Promise.all([upgrade.childEnd(0), upgrade.childEnd(1)])).to.deep.equal(["CANCELLED", "CANCELLED"]);
  });

  it("know whether another cluster has begun, so that trouble with a manager is waited out then", async () => {
    const stages: string[] = [];
    const watching = {
      runClusterPrechecks: async ({ cluster: { resourceId }, stage }: ClusterTarget & PrecheckOptions) => {
        stages.push(`${resourceId} ${stage}`);
        return { stages: passedCheck() };
      },
    };
    const [first, second] = clusters(2);
    const times = await Promise.all([2 * hour, day].map((ahead) => bench().inTime(ahead)));
    const timed = [first!, second!].map((cluster, i) => ({ ...cluster, scheduledTimestamp: times[i]! }));
    const scheduled = await bench().upgrade({ resources: timed }, new FakeActivities(watching, 1));
    await scheduled.untilStatuses("Pending / SCHEDULED");
    await bench().passTime(2 * day);
    expect(await scheduled.end()).to.equal("SUCCESSFUL");
    expect(stages.slice(2)).to.deep.equal([`${first?.resourceId} FIRST_CONTACT`, `${second?.resourceId} IN_WORK`]);
  });

  it("leave out the cluster that fails them where others have begun, and the upgrade fails when those have ended", async () => {
    const resources = clusters(3);
    const times = await Promise.all([2 * hour, day, 2 * day].map((ahead) => bench().inTime(ahead)));
    const timed = resources.map((cluster, i) => ({ ...cluster, scheduledTimestamp: times[i]! }));
    const upgrade = await bench().upgrade({ resources: timed }, failingLater(resources[1]?.resourceId));
    await upgrade.untilStatuses("Pending / SCHEDULED");
    await bench().passTime(1.5 * day);
    // The test server lets time pass while a cancellation is on its way, and the third would be late.
    await eventually(
      async () => (await (await upgrade.child(1)).describe()).status.name,
      (status) => status === "CANCELLED",
    );
    await bench().passTime(1.5 * day);
    await upgrade.untilStatuses(failed);
    const touched = new Set(upgrade.fake.changes.map((change) => change.split(/[ /]/)[1]));
    expect([...touched]).to.deep.equal([upgrade.resourceId(0), upgrade.resourceId(2)]);
    const { subTasks = [], errors = [] } = await upgrade.task();
    const product = subTasks.at(-1);
    expect(product?.status).to.equal("FAILED");
    expect(product?.subTasks?.map(({ status }) => status)).to.deep.equal([
      "SUCCESSFUL",
      "NOT_APPLICABLE",
      "SUCCESSFUL",
    ]);
    expect(errors.map(({ errorCode, context }) => [errorCode, context?.["resourceId"]])).to.deep.equal([
      ["PRECHECKS_FAILED", upgrade.resourceId(1)],
    ]);
  });
});
