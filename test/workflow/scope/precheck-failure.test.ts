import { expect } from "chai";
import type { SubTask } from "../../../src/domain/spec/task";
import { failedCheck, FakeActivities, Gate, passedCheck, upgraded } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";
import { activityQuery } from "../../../workflows/messages";

describe("An upgrade that leaves out clusters which fail their prechecks", function () {
  this.timeout(60_000);
  // The server that skips time hangs where a child of an ID that has closed before is cancelled.
  const bench = useBench("DEV_SERVER");
  const inputs = { onPrecheckFailure: "SKIP_RESOURCE" } as const;

  /** Activities with prechecks that fail for these clusters, as long as they are in the set; hosts wait at the gate. */
  const failing = (ids: ReadonlySet<string | undefined>, gate?: Gate) =>
    new FakeActivities({
      remediateHost: async (input) => {
        await gate?.pass();
        return upgraded(input);
      },
      runClusterPrechecks: ({ cluster }) =>
        Promise.resolve({ stages: ids.has(cluster.resourceId) ? failedCheck() : passedCheck() }),
    });
  const reasons = async (upgrade: RunningUpgrade) =>
    clustersOf((await upgrade.task()).subTasks).map(({ status, reasonCode }) => reasonCode ?? status);
  const clustersOf = (parts: readonly SubTask[] = []) =>
    parts.filter(({ type }) => type === "HOSTOS_UPGRADE").flatMap(({ subTasks = [] }) => subTasks);

  it("upgrades the others and ends with a warning that has the findings", async () => {
    const resources = clusters(2);
    const upgrade = await bench().upgrade({ resources, inputs }, failing(new Set([resources[0]?.resourceId])));
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(await reasons(upgrade)).to.deep.equal(["PRECHECK_FAILED", "SUCCESSFUL"]);
    const { status, subTasks, errors = [] } = await upgrade.task();
    expect(status).to.equal("COMPLETED_WITH_WARNING");
    expect(errors.map(({ errorCode }) => errorCode)).to.deep.equal(["PRECHECKS_FAILED"]);
    expect(clustersOf(subTasks)[0]?.errors?.[0]?.nestedErrors?.[0]?.errorCode).to.equal("HOST_NOT_CONNECTED");
    const { entries } = await upgrade.handle.query(activityQuery);
    expect(entries.map(({ kind, resourceId }) => [kind, resourceId])).to.deep.include([
      "RESOURCE_LEFT_OUT",
      resources[0]?.resourceId,
    ]);
    expect((await upgrade.upgrade()).leftOut).to.deep.equal([
      { resourceId: resources[0]?.resourceId, name: `${resources[0]?.resourceId}-name`, reasonCode: "PRECHECK_FAILED" },
    ]);
    expect(upgrade.fake.calls.filter((call) => call === `readHosts ${resources[0]?.resourceId}`)).to.deep.equal([]);
  });

  it("releases the lock of a cluster that it leaves out before the others have ended", async () => {
    const resources = clusters(2);
    const gate = new Gate();
    const bad = new Set([resources[0]?.resourceId]);
    const upgrade = await bench().upgrade({ resources, inputs }, failing(bad, gate));
    await gate.reached;
    expect(await upgrade.childEnd(0)).to.equal("CANCELLED");
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
  });

  it("fails where no cluster is left, and a retry looks at all of them again", async () => {
    const resources = clusters(2);
    const bad = new Set(resources.map(({ resourceId }) => resourceId));
    const upgrade = await bench().upgrade({ resources, inputs }, failing(bad));
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect((await upgrade.upgrade()).leftOut).to.equal(undefined);
    bad.delete(resources[1]?.resourceId ?? "");
    expect((await upgrade.ask("retry")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(await reasons(upgrade)).to.deep.equal(["PRECHECK_FAILED", "SUCCESSFUL"]);
  });

  it("commits of a draft the clusters that passed the latest prechecks", async () => {
    const resources = clusters(3);
    const bad = new Set([resources[0]?.resourceId, resources[1]?.resourceId]);
    const upgrade = await bench().upgrade({ draft: true, resources, inputs }, failing(bad));
    await upgrade.untilStatuses("Pending / DRAFT");
    expect(await reasons(upgrade)).to.deep.equal(["PRECHECK_FAILED", "PRECHECK_FAILED", "PENDING"]);
    bad.delete(resources[1]?.resourceId);
    expect((await upgrade.ask("prechecks")).accepted).to.equal(true);
    await upgrade.untilStatuses("Pending / DRAFT");
    expect(await reasons(upgrade)).to.deep.equal(["PRECHECK_FAILED", "PENDING", "PENDING"]);
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(await reasons(upgrade)).to.deep.equal(["PRECHECK_FAILED", "SUCCESSFUL", "SUCCESSFUL"]);
  });

  it("fails as a whole where the request does not ask for it", async () => {
    const resources = clusters(2);
    const upgrade = await bench().upgrade({ resources }, failing(new Set([resources[0]?.resourceId])));
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect((await upgrade.upgrade()).leftOut).to.equal(undefined);
  });
});
