import type { WorkflowHandle } from "@temporalio/client";
import { expect } from "chai";
import { notifyWorkflowId } from "../../../src/domain/notifications/upgrade-notification";
import { clusterNamesKey, requestedByKey, startsAtKey, targetVersionKey } from "../../../workflows/search-attributes";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate, upgraded } from "../../support/fake-activities";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

/** So long before its time the upgrade has the Workflows of its clusters. */
const lockLeadMinutes = 7 * 24 * 60;

describe("The columns by which Workflows are known in a list of the Temporal Web UI", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");
  const inDays = (days: number) => bench().inTime(days * 86_400_000);

  async function columns(handle: Pick<WorkflowHandle, "describe">) {
    const { typedSearchAttributes: attributes } = await handle.describe();
    return {
      names: attributes.get(clusterNamesKey),
      version: attributes.get(targetVersionKey),
      by: attributes.get(requestedByKey),
      startsAt: attributes.get(startsAtKey)?.toISOString(),
    };
  }

  it("are those of the upgrade, of each of its clusters, and of its notifications", async () => {
    const [soon, late] = [await inDays(1), await inDays(2)];
    const resources = clusters(2).map((one, i) => ({ ...one, scheduledTimestamp: i === 0 ? late : soon }));
    const notifications = [{ id: "chat", retryHours: 1 }];
    const upgrade = await bench().upgrade({ resources, notifications, lockLeadMinutes }, new FakeActivities({}, 1));
    await upgrade.untilStatuses("Pending / SCHEDULED");
    const [first, second] = resources.map(({ resourceId }) => `${resourceId}-name`);
    const by = "a test";
    const version = "9.0.2-0.25148076";
    expect(await columns(upgrade.handle)).to.deep.equal({
      names: `${first}, ${second}`,
      version: "9.0.2",
      by,
      startsAt: soon,
    });
    expect(await columns(await upgrade.child(0))).to.deep.equal({ names: first, version, by, startsAt: late });
    expect(await columns(await upgrade.child(1))).to.deep.equal({ names: second, version, by, startsAt: soon });
    const notifier = bench().env.client.workflow.getHandle(notifyWorkflowId(upgrade.id));
    const told = { names: `${first}, ${second}`, version: "9.0.2", by, startsAt: undefined };
    expect(await columns(notifier)).to.deep.equal(told);
  });

  it("follow another time, and say when the work has begun", async () => {
    const gate = new Gate();
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          await gate.pass();
          return upgraded(input);
        },
      },
      1,
    );
    const upgrade = await bench().upgrade({ draft: true, lockLeadMinutes }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    expect((await columns(upgrade.handle)).startsAt).to.equal(undefined);
    const starts = async () => {
      const both = [await columns(upgrade.handle), await columns(await upgrade.child())];
      return both.map(({ startsAt }) => startsAt);
    };
    for (const days of [1, 3]) {
      const scheduledTimestamp = await inDays(days);
      await upgrade.ask("commit", { scheduledTimestamp });
      const expected = [scheduledTimestamp, scheduledTimestamp];
      expect(await eventually(starts, (found) => String(found) === String(expected))).to.deep.equal(expected);
    }
    const before = await bench().now();
    await upgrade.ask("commit", { upgradeNow: true });
    await gate.reached;
    const begun = await eventually(starts, (found) =>
      found.every((at) => at !== undefined && Date.parse(at) < before + 60_000),
    );
    for (const at of begun) expect(Date.parse(at ?? "")).to.be.at.least(before - 1000);
    gate.open();
    await upgrade.end();
    expect((await columns(upgrade.handle)).startsAt).to.equal((await upgrade.upgrade()).startedAt);
  });
});
