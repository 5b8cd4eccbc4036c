import { ApplicationFailure } from "@temporalio/common";
import { expect } from "chai";
import type { NoticeType, UpgradeNotice } from "../../src/domain/upgrade-notice";
import { taskQueue, type NotifyInput } from "../../workflows/messages";
import type { notifyWorkflow } from "../../workflows/notify-workflow";
import { eventually } from "../support/eventually";
import { failedCheck, FakeActivities, Gate, hostFailure, passedCheck, upgraded } from "../support/fake-activities";
import { notifierOf } from "../support/notifier";
import type { RunningUpgrade } from "../support/running-upgrade";
import { samplePlan } from "../support/sample-plan";
import { useBench } from "../support/upgrade-bench";

const chat = { id: "chat", retryHours: 24 };
const unreachable = () =>
  ApplicationFailure.create({ message: "Receiver chat does not answer.", type: "NOTIFICATION_NOT_DELIVERED" });

/** What a receiver was told, in the order of what happened, each once. */
function toldTo(fake: FakeActivities, receiver = "chat"): NoticeType[] {
  const notices = fake.notifications.filter((input) => input.receiver === receiver).map(({ notice }) => notice);
  const once = new Map(notices.map((notice) => [notice.sequence, notice.type]));
  return [...once].sort(([a], [b]) => a - b).map(([, type]) => type);
}

describe("Notifications of an upgrade", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");
  const ended = (upgrade: RunningUpgrade) => notifierOf(bench(), upgrade).result();

  it("tell of a draft that is ready, of its start and of its success, under ids that say their order", async () => {
    const fake = new FakeActivities({}, 2);
    const upgrade = await bench().upgrade({ draft: true, notifications: [chat] }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    await upgrade.ask("commit");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await ended(upgrade)).to.deep.equal({ delivered: 3, givenUp: 0 });
    expect(toldTo(fake)).to.deep.equal(["upgrade.draft.ready", "upgrade.started", "upgrade.successful"]);
    expect(fake.notifications.map(({ notice }) => notice.id).sort()).to.deep.equal(
      [1, 2, 3].map((n) => `${upgrade.id}-${n}`),
    );
    const last = fake.notifications.find(({ notice }) => notice.sequence === 3);
    expect(last?.notice.data).to.deep.equal({
      upgradeId: upgrade.id,
      name: upgrade.plan.name,
      bundleId: upgrade.plan.bundle.id,
      status: "COMPLETED_WITH_SUCCESS",
      taskStatus: "Successful",
      errors: [],
    });
  });

  it("tell what is wrong where the prechecks of a draft fail, and that it is ready when they pass", async () => {
    let runs = 0;
    const fake = new FakeActivities({
      runClusterPrechecks: async () => ({ stages: runs++ === 0 ? failedCheck() : passedCheck() }),
    });
    const upgrade = await bench().upgrade({ draft: true, notifications: [chat] }, fake);
    await eventually(
      async () => toldTo(fake),
      (told) => told.includes("upgrade.prechecks.failed"),
    );
    const [first] = fake.notifications;
    expect(first?.notice.data.errors).to.have.length(1);
    expect(first?.notice.data.errors[0]).to.include({
      errorCode: "PRECHECKS_FAILED",
      resourceId: upgrade.resourceId(),
      remediationMessage: "Mend it.",
    });
    await upgrade.ask("prechecks");
    await eventually(
      async () => toldTo(fake),
      (told) => told.includes("upgrade.draft.ready"),
    );
  });

  it("tell of a failed host and a failure, and after a retry of its new start", async () => {
    let reported = 0;
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (reported === 0) throw hostFailure(input, ++reported);
          return upgraded(input);
        },
      },
      2,
    );
    const upgrade = await bench().upgrade({ notifications: [chat] }, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    await upgrade.ask("retry");
    await upgrade.end();
    await ended(upgrade);
    expect(toldTo(fake)).to.deep.equal([
      "upgrade.started",
      "upgrade.host.failed",
      "upgrade.failed",
      "upgrade.started",
      "upgrade.successful",
    ]);
    const host = fake.notifications.find(({ notice }) => notice.type === "upgrade.host.failed")?.notice.data;
    expect(host).to.deep.include({ resourceId: upgrade.resourceId(), hosts: { failed: 1, total: 2 } });
    expect(host?.errors[0]?.message).to.contain("esx-01.example.com");
  });

  it("tell of a pause, of its end and of a cancellation", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, 2);
    const upgrade = await bench().upgrade({ notifications: [chat] }, fake);
    await gate.reached;
    await upgrade.ask("pause");
    await upgrade.ask("resume");
    await upgrade.ask("pause");
    await upgrade.handle.cancel();
    gate.open();
    expect(await upgrade.end()).to.equal("CANCELLED");
    await ended(upgrade);
    expect(toldTo(fake)).to.deep.equal([
      "upgrade.started",
      "upgrade.paused",
      "upgrade.resumed",
      "upgrade.paused",
      "upgrade.cancelled",
    ]);
  });

  it("reach only those who want them, and no one more who answers that it is gone", async () => {
    const fake = new FakeActivities({
      deliverNotification: async ({ receiver }) => ({ outcome: receiver === "gone" ? "GONE" : "DELIVERED" }),
    });
    const pager = { id: "pager", retryHours: 1, events: ["upgrade.successful"] } as const;
    const upgrade = await bench().upgrade(
      { draft: true, notifications: [chat, pager, { id: "gone", retryHours: 1 }] },
      fake,
    );
    await upgrade.untilStatuses("Pending / DRAFT");
    await eventually(
      async () => toldTo(fake, "gone"),
      (told) => told.length === 1,
    );
    await upgrade.ask("commit");
    await upgrade.end();
    expect(await ended(upgrade)).to.deep.equal({ delivered: 4, givenUp: 0 });
    expect(toldTo(fake, "pager")).to.deep.equal(["upgrade.successful"]);
    expect(toldTo(fake, "gone")).to.deep.equal(["upgrade.draft.ready"]);
  });

  it("keep neither the end of the upgrade waiting nor each other, where a receiver does not answer", async () => {
    const fake = new FakeActivities({
      deliverNotification: async ({ receiver }) => {
        if (receiver === "dead") throw unreachable();
        return { outcome: "DELIVERED" };
      },
    });
    const upgrade = await bench().upgrade({ notifications: [{ id: "dead", retryHours: 24 }, chat] }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    await eventually(
      async () => toldTo(fake),
      (told) => told.includes("upgrade.successful"),
    );
    const notifier = notifierOf(bench(), upgrade);
    // It knows by then that the upgrade has ended.
    await eventually(
      async () => (await notifier.fetchHistory()).events ?? [],
      (events) =>
        events.some((event) => event.workflowExecutionCancelRequestedEventAttributes) &&
        events.at(-1)?.workflowTaskCompletedEventAttributes != null,
    );
    const { raw, status } = await notifier.describe();
    expect(status.name).to.equal("RUNNING");
    expect(raw.pendingActivities).to.have.length(2);
    await notifier.terminate("end of the test");
  });

  it("go on although somebody has ended their Workflow", async () => {
    const fake = new FakeActivities();
    const upgrade = await bench().upgrade({ draft: true, notifications: [chat] }, fake);
    await eventually(
      async () => toldTo(fake),
      (told) => told.length === 1,
    );
    await notifierOf(bench(), upgrade).terminate("by mistake");
    await upgrade.ask("commit");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    await ended(upgrade);
    expect(toldTo(fake)).to.deep.equal(["upgrade.draft.ready", "upgrade.started", "upgrade.successful"]);
  });

  it("add nothing to the history of an upgrade without receivers", async () => {
    const upgrade = await bench().upgrade({}, new FakeActivities({}, 1));
    await upgrade.end();
    const events = await upgrade.events();
    expect(events.filter((event) => event.markerRecordedEventAttributes)).to.deep.equal([]);
    expect(events.filter((event) => event.startChildWorkflowExecutionInitiatedEventAttributes)).to.have.length(1);
  });

  it("are dropped where nobody can read the Signal that brings them", async () => {
    const fake = new FakeActivities();
    const upgrade = await bench().upgrade({ draft: true, notifications: [chat] }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    await notifierOf(bench(), upgrade).signal("notices", { type: "upgrade.failed" });
    await upgrade.ask("commit");
    await upgrade.end();
    expect(await ended(upgrade)).to.deep.equal({ delivered: 3, givenUp: 0 });
  });
});

describe("Notifications that are not taken", function () {
  this.timeout(30_000);
  const bench = useBench("TIME_SKIPPING");

  /**
   * What becomes of one notification of an upgrade that has ended. Without the upgrade itself: this server does not
   * tell children that their parent has closed, and skips no time any more once such a child has ended.
   */
  async function outcomeOf(fake: FakeActivities, retryHours: number) {
    const plan = samplePlan();
    bench().serve(plan, fake);
    const notice: UpgradeNotice = {
      id: `${plan.id}-1`,
      sequence: 1,
      type: "upgrade.successful",
      time: plan.creationTimestamp,
      data: { upgradeId: plan.id, name: "n", bundleId: "b", status: "s", taskStatus: "t", errors: [] },
    };
    const input: NotifyInput = { upgradeId: plan.id, receivers: [{ id: "chat", retryHours }], notices: [notice] };
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
});
