import { expect } from "chai";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate, hostFailure, passedCheck, upgraded } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters, sampleBundle } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";
import {
  bundleIdKey,
  bundleTypeKey,
  resourceIdsKey,
  taskStatusKey,
  upgradeStatusKey,
} from "../../../workflows/search-attributes";

/** The walk of an upgrade: what it begins as, how it waits, how its first run ends, and what is done about a failure. */
interface Walk {
  readonly draft: boolean;
  readonly scheduled: boolean;
  readonly ends: "well" | "with nothing to do" | "failed" | "cancelled";
  readonly then?: "retry" | "resolve";
}

/** Milliseconds; it takes a few hundredths of a second, more on a machine that does other things too. */
const listedWithin = 3000;

const starts = [true, false].flatMap((draft) => [true, false].map((scheduled) => ({ draft, scheduled })));
const ends: readonly Pick<Walk, "ends" | "then">[] = [
  { ends: "well" },
  { ends: "with nothing to do" },
  { ends: "failed", then: "retry" },
  { ends: "failed", then: "resolve" },
  { ends: "cancelled" },
];

describe("Task, Upgrade, memo and search attributes", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** Every place that tells the statuses, as `Task.status / Upgrade.status`. */
  async function expectEverywhere(upgrade: RunningUpgrade, expected: string): Promise<void> {
    await upgrade.untilStatuses(expected);
    const { task, upgrade: stored } = await upgrade.memo();
    expect(`${task.status} / ${stored.status}`, "memo").to.equal(expected);
    const { typedSearchAttributes } = await upgrade.handle.describe();
    const attributes = `${typedSearchAttributes.get(taskStatusKey)} / ${typedSearchAttributes.get(upgradeStatusKey)}`;
    expect(attributes, "search attributes").to.equal(expected);
    await eventually(
      () => listed(upgrade, expected),
      (found) => found,
      listedWithin,
    );
  }

  /** Whether the upgrade is found by its statuses, its bundle and its cluster at once, as an operator filters. */
  async function listed(upgrade: RunningUpgrade, statuses: string): Promise<boolean> {
    const [task, status] = statuses.split(" / ");
    const query = [
      [taskStatusKey.name, task],
      [upgradeStatusKey.name, status],
      [bundleIdKey.name, sampleBundle.id],
      [bundleTypeKey.name, sampleBundle.type],
      [resourceIdsKey.name, upgrade.resourceId()],
    ].map(([name, value]) => `${name} = "${value}"`);
    const found = bench().env.client.workflow.list({ query: query.join(" AND ") });
    for await (const { workflowId } of found) if (workflowId === upgrade.id) return true;
    return false;
  }

  async function take(walk: Walk): Promise<void> {
    const [prechecks, host] = [new Gate(), new Gate()];
    let broken = walk.ends === "failed";
    const resources = clusters(1).map((cluster) => ({
      ...cluster,
      ...(walk.scheduled && { scheduledTimestamp: new Date(Date.now() + 86_400_000).toISOString() }),
    }));
    const fake = new FakeActivities(
      {
        runClusterPrechecks: () => prechecks.pass().then(() => ({ stages: passedCheck() })),
        remediateHost: async (input) => {
          await host.pass();
          if (broken) throw hostFailure(input);
          return upgraded(input);
        },
      },
      1,
    );
    if (walk.ends === "with nothing to do") fake.atTarget.add(`${resources[0]!.resourceId}/host-1`);
    const upgrade = await bench().upgrade({ draft: walk.draft, resources }, fake);
    await prechecks.reached;
    const undrafted = walk.scheduled ? "Pending / SCHEDULED" : "In Progress / INPROGRESS";
    await expectEverywhere(upgrade, walk.draft ? "In Progress / DRAFT" : undrafted);
    prechecks.open();
    if (walk.draft) {
      await expectEverywhere(upgrade, "Pending / DRAFT");
      await upgrade.ask("commit");
    }
    if (walk.scheduled) {
      await expectEverywhere(upgrade, "Pending / SCHEDULED");
      await upgrade.ask("commit", { upgradeNow: true });
    }
    if (walk.ends !== "with nothing to do") {
      await host.reached;
      await expectEverywhere(upgrade, "In Progress / INPROGRESS");
    }
    if (walk.ends === "cancelled") await upgrade.handle.cancel();
    else host.open();
    if (walk.ends === "failed") {
      await expectEverywhere(upgrade, "Failed / COMPLETED_WITH_FAILURE");
      broken = false;
      await upgrade.ask(walk.then ?? "resolve");
    }
    await upgrade.end();
    await expectEverywhere(upgrade, endOf(walk));
  }

  for (const start of starts)
    it(`agree at every phase of ${start.draft ? "a draft" : "an upgrade"}${start.scheduled ? " with a time" : ""}`, async () => {
      // The ends do not depend on the start: the longest start has them all.
      const different = start.draft && start.scheduled ? ends : ends.slice(0, 1);
      await Promise.all(different.map((end) => take({ ...start, ...end })));
    });

  it("agree before a worker has seen the upgrade", async () => {
    await bench().stopWorker();
    for (const draft of [true, false]) {
      const upgrade = await bench().upgrade({ draft });
      const { task, upgrade: stored } = await upgrade.memo();
      const expected = draft ? "Pending / DRAFT" : "Pending / PENDING";
      expect(`${task.status} / ${stored.status}`).to.equal(expected);
      await eventually(
        () => listed(upgrade, expected),
        (found) => found,
        listedWithin,
      );
    }
  });
});

function endOf({ ends: end, then }: Walk): string {
  if (end === "cancelled") return "Cancelled / CANCELLED";
  if (end === "with nothing to do") return "SKIPPED / COMPLETED_WITH_SUCCESS";
  return then === "resolve" ? "Failed / COMPLETED_WITH_FAILURE" : "Successful / COMPLETED_WITH_SUCCESS";
}
