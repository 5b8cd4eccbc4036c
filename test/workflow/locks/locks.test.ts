import { expect } from "chai";
import { lowerFirst } from "../../../src/domain/names";
import { clusterLock } from "../../../src/domain/resource-lock";
import type { ResourceUpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import { LockHolders, readHolder } from "../../../src/temporal/lock-holder";
import { VisibilityReader } from "../../../src/temporal/visibility";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate, upgraded } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const domain = "domain-with-a-window";
const [running, failed] = ["In Progress / INPROGRESS", "Failed / COMPLETED_WITH_FAILURE"];

/** As their locks are taken. */
function inOrder(resources: readonly ResourceUpgradeSpec[]): ResourceUpgradeSpec[] {
  return [...resources].sort((one, other) => (one.resourceId < other.resourceId ? -1 : 1));
}

describe("Clusters that more than one upgrade wants", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** Upgrades of one cluster change the same hosts. */
  const atTarget = new Set<string>();

  /** Activities that ask Temporal who holds a lock, as the real one does; hosts stay at the gate where there is one. */
  function activities(gate?: Gate): FakeActivities {
    return new FakeActivities(
      {
        remediateHost: async (input) => {
          await gate?.pass();
          return upgraded(input);
        },
        readLockHolder: ({ workflowId }) => readHolder(bench().env.client, workflowId),
      },
      1,
      atTarget,
    );
  }

  /** Waits until every upgrade but those that hold all of their locks has failed. Gives both, winners first. */
  async function decided(upgrades: readonly RunningUpgrade[]) {
    const statuses = await eventually(
      () => Promise.all(upgrades.map((upgrade) => upgrade.statuses())),
      (all) => all.every((status) => status === failed || status === running),
    );
    const of = (wanted: string) => upgrades.filter((_, i) => statuses[i] === wanted);
    return { winners: of(running), losers: of(failed) };
  }

  async function expectLockedOut(loser: RunningUpgrade, holder: RunningUpgrade): Promise<void> {
    const { errors = [], subTasks = [] } = await loser.task();
    expect(errors.map(({ errorCode, context }) => [errorCode, context?.["upgradeId"]])).to.deep.equal([
      ["RESOURCE_LOCKED", holder.id],
    ]);
    const { message } = errors[0]!;
    expect(message, "of the lock").to.match(/^Cluster \S+-name \(\S+\) is held by upgrade /);
    expect(message, "of the holder").to.contain(
      `by ${lowerFirst(holder.plan.name)} (${holder.id}); nothing was changed`,
    );
    expect(subTasks.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
      "PRECHECKS NOT_APPLICABLE",
      "HOSTOS_UPGRADE NOT_APPLICABLE",
    ]);
  }

  it("are upgraded by one of two that race for them, and not touched by the other, six times over", async () => {
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        const gate = new Gate();
        const fake = activities(gate);
        const [a, b, c] = clusters(3);
        // Overlapping, and in opposite orders.
        const upgrades = await Promise.all([
          bench().upgrade({ resources: [a!, b!] }, fake),
          bench().upgrade({ resources: [c!, b!, a!] }, fake),
        ]);
        await gate.reached;
        const { winners, losers } = await decided(upgrades);
        expect([winners.length, losers.length]).to.deep.equal([1, 1]);
        await expectLockedOut(losers[0]!, winners[0]!);
        gate.open();
        expect(await winners[0]!.end()).to.equal("SUCCESSFUL");
        const wanted = winners[0]!.plan.spec.resourceUpgradeSpecs.map(({ resourceId }) => resourceId);
        const touched = fake.changes.map((change) => change.split(/[ /]/)[1]);
        expect(new Set(touched)).to.deep.equal(new Set(wanted));
        const ofBoth = fake.changes.filter((change) => change.includes(b!.resourceId));
        const steps = ["putPolicy", "setImage", "remediate", "restorePolicy"];
        expect(ofBoth.map((change) => change.split(" ")[0])).to.deep.equal(steps);
      }),
    );
  });

  it("are told with their holders: few as they are now, without Visibility, and many by it", async () => {
    const gate = new Gate();
    const holder = await bench().upgrade({ resources: clusters(2) }, activities(gate));
    await gate.reached;
    const asked: string[] = [];
    const none = new VisibilityReader({
      count: () => Promise.resolve(0),
      list: (query) => Promise.resolve({ executions: [], nextToken: undefined }).finally(() => asked.push(query)),
    });
    const holders = new LockHolders(bench().env.client, none, 5_000);
    const held = [0, 1].map((i) => clusterLock(holder.resourceId(i)));
    const free = Array.from({ length: 15 }, (_, i) => clusterLock(`free-${i}`));
    expect([...(await holders.of([...held, ...free.slice(0, 14)]))].sort()).to.deep.equal(
      held
        .map((lock, i) => [
          lock,
          {
            upgradeId: holder.id,
            upgradeName: holder.plan.name,
            resourceName: holder.plan.products[0]?.resources[i]?.name,
          },
        ])
        .sort(),
    );
    expect(asked).to.deep.equal([]);
    expect([...(await holders.of([...held, ...free]))]).to.deep.equal([]);
    expect(asked.length).to.equal(1);
    gate.open();
    await holder.end();
  });

  it("never leave all waiting for each other: of three in a ring at least one gets through", async () => {
    const gate = new Gate();
    const fake = activities(gate);
    const [a, b, c] = clusters(3);
    const upgrades = await Promise.all(
      [
        [a!, b!],
        [b!, c!],
        [c!, a!],
      ].map((resources) => bench().upgrade({ resources }, fake)),
    );
    const { winners } = await decided(upgrades);
    expect(winners).to.have.length(1);
    gate.open();
    expect(await winners[0]!.end()).to.equal("SUCCESSFUL");
  });

  it("are free at once where they were only taken on the way to one that is held, and the loser may retry", async () => {
    const gate = new Gate();
    const [before, held, after] = clusters(3);
    const holder = await bench().upgrade({ resources: [held!] }, activities(gate));
    await gate.reached;
    const loser = await bench().upgrade({ resources: [before!, held!, after!] }, activities(gate));
    await loser.untilStatuses(failed);
    await expectLockedOut(loser, holder);
    const other = await bench().upgrade({ resources: [before!, after!] }, activities());
    expect(await other.end()).to.equal("SUCCESSFUL");
    gate.open();
    expect(await holder.end()).to.equal("SUCCESSFUL");
    await loser.ask("retry");
    expect(await loser.end()).to.be.oneOf(["SUCCESSFUL", "NOTHING_TO_DO"]);
  });

  it("are free while the time of a scheduled upgrade is farther than it needs them, and after it was moved there", async () => {
    const [cluster] = clusters(1);
    const resources = [{ ...cluster!, scheduledTimestamp: await bench().inTime(1_800_000) }];
    const scheduled = await bench().upgrade({ resources }, activities());
    await eventually(
      () => scheduled.subTask().catch(() => undefined),
      (part) => part !== undefined,
    );
    await scheduled.ask("commit", { scheduledTimestamp: await bench().inTime(86_400_000) });
    await eventually(
      () => readHolder(bench().env.client, clusterLock(cluster!.resourceId)),
      ({ upgradeId }) => upgradeId === undefined,
    );
    const other = await bench().upgrade({ resources: [cluster!] }, activities());
    expect(await other.end()).to.equal("SUCCESSFUL");
    const { phase, waitingFor } = await scheduled.upgrade();
    expect([phase, waitingFor?.code]).to.deep.equal(["SCHEDULED", "TIME"]);
    bench().serve(scheduled.plan, scheduled.fake);
    await scheduled.ask("commit", { upgradeNow: true });
    expect(await scheduled.end()).to.equal("NOTHING_TO_DO");
  });

  it("are waited for by a scheduled upgrade, which says for whom, and begins when it has them", async () => {
    const gate = new Gate();
    const [cluster] = clusters(1);
    const holder = await bench().upgrade({ resources: [cluster!] }, activities(gate));
    await gate.reached;
    const fake = activities(gate);
    const resources = [{ ...cluster!, scheduledTimestamp: await bench().inTime(3_000) }];
    const scheduled = await bench().upgrade({ resources }, fake);
    const { waitingFor } = await eventually(
      () => scheduled.upgrade(),
      ({ phase, waitingFor }) => phase === "WAITING" && waitingFor?.code === "LOCK",
    );
    expect(waitingFor?.message).to.contain(holder.id);
    expect(fake.changes).to.deep.equal([]);
    gate.open();
    expect(await holder.end()).to.equal("SUCCESSFUL");
    expect(await scheduled.end()).to.equal("NOTHING_TO_DO");
  });

  for (const [until, closesIn, lateStartMinutes] of [
    ["as long as it may be late where there is no window", undefined, 0.05],
    ["up to the end of its maintenance window", 5_000, 60],
  ] as const)
    it(`are waited for by a scheduled upgrade ${until}`, async () => {
      const gate = new Gate();
      const [cluster] = clusters(1);
      const holder = await bench().upgrade({ resources: [cluster!] }, activities(gate));
      await gate.reached;
      const scheduledTimestamp = await bench().inTime(2_000);
      if (closesIn !== undefined) bench().closings.set(domain, Date.parse(scheduledTimestamp) + closesIn);
      const resources = [{ ...cluster!, scheduledTimestamp }];
      const scheduled = await bench().upgrade({ resources, domain, lateStartMinutes }, activities());
      await scheduled.untilStatuses(failed);
      expect(Date.now()).to.be.at.least(Date.parse(scheduledTimestamp) + (closesIn ?? lateStartMinutes * 60_000));
      await expectLockedOut(scheduled, holder);
      gate.open();
      expect(await holder.end()).to.equal("SUCCESSFUL");
    });

  it("are held by an upgrade whose time comes near", async () => {
    const [cluster] = clusters(1);
    const scheduledTimestamp = await bench().inTime(1_800_000);
    const holder = await bench().upgrade({ resources: [{ ...cluster!, scheduledTimestamp }] }, activities());
    await holder.untilStatuses("Pending / SCHEDULED");
    const loser = await bench().upgrade({ resources: [cluster!] }, activities());
    await loser.untilStatuses(failed);
    await expectLockedOut(loser, holder);
    expect(loser.fake.changes).to.deep.equal([]);
  });

  it("are not held by drafts: the one that is committed first gets them", async () => {
    const gate = new Gate();
    const fake = activities(gate);
    const resources = clusters(1);
    const [first, second] = await Promise.all([
      bench().upgrade({ resources, draft: true }, fake),
      bench().upgrade({ resources, draft: true }, fake),
    ]);
    await Promise.all([first, second].map((draft) => draft.untilStatuses("Pending / DRAFT")));
    await second.ask("commit");
    await gate.reached;
    await first.ask("commit");
    await first.untilStatuses(failed);
    expect((await first.task()).errors?.[0]?.context?.["upgradeId"]).to.equal(second.id);
  });

  it("are free after a cancellation", async () => {
    const gate = new Gate();
    const resources = clusters(1);
    const upgrade = await bench().upgrade({ resources }, activities(gate));
    await gate.reached;
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    const next = await bench().upgrade({ resources }, activities());
    expect(await next.end()).to.equal("SUCCESSFUL");
  });

  it("are taken after all where their holder ends while it is asked for", async () => {
    const gate = new Gate();
    const resources = clusters(1);
    const holder = await bench().upgrade({ resources }, activities(gate));
    await gate.reached;
    const fake = new FakeActivities(
      {
        readLockHolder: async () => {
          gate.open();
          await holder.end();
          return {};
        },
      },
      1,
      atTarget,
    );
    const next = await bench().upgrade({ resources }, fake);
    expect(await next.end(), "after what its holder has done").to.equal("NOTHING_TO_DO");
    expect(fake.calls[0]).to.equal(`holder cluster/${resources[0]?.resourceId}`);
  });

  it("are free again where the last of eighteen is held, and the upgrade may retry all of them", async () => {
    const gate = new Gate();
    const resources = clusters(18);
    const last = inOrder(resources).at(-1)!;
    const holder = await bench().upgrade({ resources: [last] }, activities(gate));
    await gate.reached;
    const loser = await bench().upgrade({ resources }, activities());
    await loser.untilStatuses(failed);
    await expectLockedOut(loser, holder);
    const free = resources.filter((resource) => resource !== last);
    for (const { resourceId } of free)
      expect(await readHolder(bench().env.client, `cluster/${resourceId}`)).to.deep.equal({});
    gate.open();
    expect(await holder.end()).to.equal("SUCCESSFUL");
    await loser.ask("retry");
    expect(await loser.end()).to.be.oneOf(["SUCCESSFUL", "NOTHING_TO_DO"]);
  });

  it("are given back where the upgrade is cancelled while it takes them", async () => {
    const upgrades = await Promise.all(
      Array.from({ length: 6 }, async (_, i) => {
        const resources = clusters(16);
        const upgrade = await bench().upgrade({ resources }, activities());
        // From before the first Workflow task to the middle of the upgrade.
        for (let looks = 0; looks < i; looks++) await upgrade.handle.describe();
        await upgrade.handle.cancel();
        return { upgrade, resources };
      }),
    );
    for (const { upgrade, resources } of upgrades) {
      expect(await upgrade.end()).to.equal("CANCELLED");
      for (const { resourceId } of resources)
        expect(await readHolder(bench().env.client, `cluster/${resourceId}`)).to.deep.equal({});
    }
  });

  it("are refused also where their holder cannot be named", async () => {
    const gate = new Gate();
    const resources = clusters(1);
    await bench().upgrade({ resources }, activities(gate));
    await gate.reached;
    const loser = await bench().upgrade({ resources }, new FakeActivities({}, 1));
    await loser.untilStatuses(failed);
    const [error] = (await loser.task()).errors ?? [];
    expect([error?.errorCode, error?.context]).to.deep.equal([
      "RESOURCE_LOCKED",
      { resourceId: resources[0]?.resourceId },
    ]);
  });
});
