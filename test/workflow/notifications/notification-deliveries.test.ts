import { activityInfo } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { expect } from "chai";
import type { UpgradeNotification } from "../../../src/domain/notifications/upgrade-notification";
import { type NotifyInput, taskQueue } from "../../../workflows/messages";
import type { notifyWorkflow } from "../../../workflows/notifications/notify-workflow";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate } from "../../support/fake-activities";
import { notifierOf, orderOf, toldTo } from "../../support/notifier";
import { samplePlan } from "../../support/sample-plan";
import { UpgradeBench, useBench } from "../../support/upgrade-bench";

const chat = { id: "chat", retryHours: 24 };
const slow = { id: "slow", retryHours: 24 };
const unreachable = () =>
  ApplicationFailure.create({ message: "Receiver chat does not answer.", type: "NOTIFICATION_NOT_DELIVERED" });

describe("A receiver of notifications", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  it("that does not answer holds up neither the upgrade nor the others, and gets all in their order when it does", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      deliverNotification: async ({ receiver }) => {
        if (receiver === "slow") await gate.pass();
        return { outcome: "DELIVERED" };
      },
    });
    const upgrade = await bench().upgrade({ draft: true, notifications: [slow, chat] }, fake);
    await gate.reached;
    await upgrade.untilStatuses("Pending / DRAFT");
    await upgrade.ask("commit");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    await eventually(
      async () => orderOf(fake, "chat"),
      (order) => order.length === 3,
    );
    expect(orderOf(fake, "chat")).to.deep.equal([1, 2, 3]);
    expect(orderOf(fake, "slow")).to.deep.equal([1]);
    const notifier = notifierOf(bench(), upgrade);
    // Only the delivery to `slow`: that `chat` was called says not yet that the server knows of its end.
    await eventually(
      async () => (await notifier.describe()).raw.pendingActivities ?? [],
      (pending) => pending.length === 1,
    );
    gate.open();
    expect(await notifier.result()).to.deep.equal({ delivered: 6, givenUp: 0 });
    expect(orderOf(fake, "slow")).to.deep.equal([1, 2, 3]);
  });

  it("that is not there fails nothing, and is tried again although the upgrade has ended", async () => {
    const fake = new FakeActivities({
      deliverNotification: async () => {
        throw unreachable();
      },
    });
    const upgrade = await bench().upgrade({ notifications: [chat] }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const notifier = notifierOf(bench(), upgrade);
    // It knows by then that the upgrade has ended.
    await eventually(
      async () => (await notifier.fetchHistory()).events ?? [],
      (events) =>
        events.some((event) => event.workflowExecutionCancelRequestedEventAttributes) &&
        events.at(-1)?.workflowTaskCompletedEventAttributes != null,
    );
    expect((await notifier.describe()).status.name).to.equal("RUNNING");
    await notifier.terminate("end of the test");
  });

  it("that was taken out of the inventory gets nothing, and the others all", async () => {
    const fake = new FakeActivities({
      deliverNotification: async ({ receiver }) => {
        if (receiver !== "chat") throw ApplicationFailure.nonRetryable("unknown", "NOTIFICATION_RECEIVER_UNKNOWN");
        return { outcome: "DELIVERED" };
      },
    });
    const upgrade = await bench().upgrade({ notifications: [{ id: "removed", retryHours: 24 }, chat] }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await notifierOf(bench(), upgrade).result()).to.deep.equal({ delivered: 2, givenUp: 2 });
    expect(toldTo(fake)).to.deep.equal(["upgrade.started", "upgrade.successful"]);
  });
});

describe("Notifications that are too many for one run of their Workflow", function () {
  this.timeout(60_000);
  let bench: UpgradeBench;
  before(async () => {
    bench = await UpgradeBench.start("DEV_SERVER", ["limit.historyCount.suggestContinueAsNew=30"]);
  });
  after(async () => {
    await bench.clean();
    await bench.stop();
  });

  it("are delivered by further runs, which know what is not delivered yet and that the upgrade has ended", async () => {
    const [work, dead] = [new Gate(), new Gate()];
    const fake = new FakeActivities({
      readClusterHosts: async () => {
        await work.pass();
        return [];
      },
      deliverNotification: async ({ receiver }) => {
        if (receiver === "gone") return { outcome: "GONE" };
        if (receiver === "slow") await dead.pass();
        return { outcome: "DELIVERED" };
      },
    });
    const receivers = [slow, chat, { id: "gone", retryHours: 1 }];
    const upgrade = await bench.upgrade({ notifications: receivers }, fake);
    await work.reached;
    const rounds = 8;
    for (let round = 1; round <= rounds; round++) {
      for (const request of ["pause", "resume"] as const) expect((await upgrade.ask(request)).accepted).to.equal(true);
      await eventually(
        async () => toldTo(fake).length,
        (told) => told === 1 + 2 * round,
      );
    }
    const notifier = notifierOf(bench, upgrade);
    const { raw } = await notifier.describe();
    expect(raw.workflowExecutionInfo?.execution?.runId).to.not.equal(raw.workflowExecutionInfo?.firstRunId);
    work.open();
    await upgrade.end();
    await eventually(
      async () => toldTo(fake).at(-1),
      (type) => type === "upgrade.successful",
    );
    dead.open();
    const all = 2 * rounds + 2;
    expect(await notifier.result()).to.deep.equal({ delivered: 2 * all, givenUp: 0 });
    const sequences = Array.from({ length: all }, (_, i) => i + 1);
    // An attempt that a run has left behind is made again by the next, under the same id.
    for (const receiver of ["chat", "slow"])
      expect([...new Set(orderOf(fake, receiver))], receiver).to.deep.equal(sequences);
    expect(orderOf(fake, "gone")).to.deep.equal([1]);
  });
});

describe("Notifications that are not taken", function () {
  this.timeout(30_000);
  const bench = useBench("TIME_SKIPPING");

  /**
   * What becomes of notifications of an upgrade that has ended. Without the upgrade itself: this server does not
   * tell children that their parent has closed, and skips no time any more once such a child has ended.
   */
  async function outcomeOf(fake: FakeActivities, retryHours: number, count = 1) {
    const plan = samplePlan();
    bench().serve(plan, fake);
    const notices = Array.from({ length: count }, (_, i): UpgradeNotification => {
      const data = { upgradeId: plan.id, name: "n", bundleId: "b", status: "s", taskStatus: "t", errors: [] };
      const sequence = i + 1;
      return { id: `${plan.id}-${sequence}`, sequence, type: "upgrade.successful", time: plan.creationTimestamp, data };
    });
    const input: NotifyInput = { upgradeId: plan.id, receivers: [{ id: "chat", retryHours }], notices };
    const notifier = await bench().env.client.workflow.start<typeof notifyWorkflow>("notifyWorkflow", {
      workflowId: `notify/${plan.id}`,
      taskQueue,
      args: [input],
    });
    await notifier.cancel();
    return notifier.result();
  }

  it("are tried again ever more seldom, under the same id, until the receiver is back", async () => {
    const times: number[] = [];
    const fake = new FakeActivities({
      deliverNotification: async () => {
        times.push(await bench().now());
        if (times.length < 5) throw unreachable();
        return { outcome: "DELIVERED" };
      },
    });
    expect(await outcomeOf(fake, 24)).to.deep.equal({ delivered: 1, givenUp: 0 });
    expect(new Set(fake.notifications.map(({ notice }) => notice.id)).size).to.equal(1);
    const waits = times.slice(1).map((time, i) => Math.round((time - (times[i] ?? 0)) / 5000));
    expect(waits).to.deep.equal([1, 2, 4, 8]);
  });

  it("are given up after the hours of their receiver", async () => {
    const times: number[] = [];
    const fake = new FakeActivities({
      deliverNotification: async () => {
        times.push(await bench().now());
        throw unreachable();
      },
    });
    expect(await outcomeOf(fake, 3)).to.deep.equal({ delivered: 0, givenUp: 1 });
    const [first = 0, last = 0] = [times[0], times.at(-1)];
    expect(last - first).to.be.within(2 * 3_600_000, 3 * 3_600_000);
    expect(times).to.have.length.within(12, 16);
  });

  it("hold up the next for half a minute, not for the hours for which they are tried", async () => {
    const times = new Map<number, number>();
    const fake = new FakeActivities({
      deliverNotification: ({ notice: { sequence } }) => {
        // When it was scheduled: the wait begins then, however long a worker takes to come to it.
        if (!times.has(sequence)) times.set(sequence, activityInfo().scheduledTimestampMs);
        if (sequence === 1) throw unreachable();
        return Promise.resolve({ outcome: "DELIVERED" });
      },
    });
    expect(await outcomeOf(fake, 1, 3)).to.deep.equal({ delivered: 2, givenUp: 1 });
    const [first = 0, second = 0, third = 0] = [1, 2, 3].map((sequence) => times.get(sequence));
    expect(second - first).to.be.within(30_000, 60_000);
    expect(third - second).to.be.within(0, 10_000);
  });

  it("are given up, the oldest first, where more wait than the next run could be handed", async () => {
    const fake = new FakeActivities();
    expect(await outcomeOf(fake, 1, 230)).to.deep.equal({ delivered: 200, givenUp: 30 });
    expect(orderOf(fake, "chat")).to.deep.equal(Array.from({ length: 200 }, (_, i) => i + 31));
  });
});
