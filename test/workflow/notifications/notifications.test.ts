import { expect } from "chai";
import { resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import { eventually } from "../../support/eventually";
import { failedCheck, FakeActivities, Gate, hostFailure, passedCheck, upgraded } from "../../support/fake-activities";
import { notifierOf, toldTo } from "../../support/notifier";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { useBench } from "../../support/upgrade-bench";

const chat = { id: "chat", retryHours: 24 };

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
      resources: [{ resourceId: upgrade.resourceId(), name: resourcesOf(upgrade.plan)[0]?.name }],
      resourceCount: 1,
      createdBy: "a test",
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
      "upgrade.cancel.requested",
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

  it("tell of a failed upgrade that somebody resolves, and of one that nobody does", async () => {
    const failing = () =>
      new FakeActivities({
        remediateHost: async (input) => {
          throw hostFailure(input);
        },
      });
    const fake = failing();
    const upgrade = await bench().upgrade({ notifications: [chat] }, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    await upgrade.ask("resolve");
    expect(await upgrade.end()).to.equal("FAILED");
    await ended(upgrade);
    expect(toldTo(fake).slice(-2)).to.deep.equal(["upgrade.failed", "upgrade.resolved"]);

    const other = failing();
    const left = await bench().upgrade({ notifications: [chat], resolutionDays: 2 / 24 / 3600 }, other);
    expect(await left.end()).to.equal("FAILED");
    await ended(left);
    expect(toldTo(other).slice(-2)).to.deep.equal(["upgrade.failed", "upgrade.expired"]);
  });

  it("tell of an upgrade that was terminated, and never of one whose end was told", async () => {
    const fake = new FakeActivities();
    const upgrade = await bench().upgrade({ draft: true, notifications: [chat] }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    await eventually(
      async () => toldTo(fake),
      (told) => told.length === 1,
    );
    await upgrade.handle.terminate("by mistake");
    expect(await ended(upgrade)).to.deep.equal({ delivered: 2, givenUp: 0 });
    expect(toldTo(fake)).to.deep.equal(["upgrade.draft.ready", "upgrade.lost"]);
    const [, lost] = fake.notifications;
    expect(lost?.notice.id).to.equal(`${upgrade.id}-2`);
    expect(lost?.notice.data.errors[0]?.message).to.contain("terminated in Temporal");
  });

  describe("whose Workflow was cancelled, which is no end of the upgrade,", () => {
    async function cancelled() {
      const fake = new FakeActivities();
      const upgrade = await bench().upgrade({ draft: true, notifications: [chat] }, fake);
      await eventually(
        async () => toldTo(fake),
        (told) => told.length === 1,
      );
      const { runId } = await notifierOf(bench(), upgrade).describe();
      await notifierOf(bench(), upgrade).cancel();
      await eventually(
        () => notifierOf(bench(), upgrade).describe(),
        (now) => now.runId !== runId && now.status.name === "RUNNING",
      );
      return { upgrade, fake };
    }

    it("go on", async () => {
      const { upgrade, fake } = await cancelled();
      await upgrade.ask("commit");
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(await ended(upgrade)).to.deep.equal({ delivered: 3, givenUp: 0 });
      expect(toldTo(fake)).to.deep.equal(["upgrade.draft.ready", "upgrade.started", "upgrade.successful"]);
    });

    it("tell of a loss", async () => {
      const { upgrade, fake } = await cancelled();
      await upgrade.handle.terminate("a test of what is told");
      expect(await ended(upgrade)).to.deep.equal({ delivered: 2, givenUp: 0 });
      expect(toldTo(fake)).to.deep.equal(["upgrade.draft.ready", "upgrade.lost"]);
    });
  });

  it("are told of a loss also where nothing else is wanted", async () => {
    const fake = new FakeActivities();
    const receiver = { id: "chat", retryHours: 1, events: ["upgrade.lost"] } as const;
    const lost = await bench().upgrade({ draft: true, notifications: [receiver] }, fake);
    await lost.untilStatuses("Pending / DRAFT");
    await eventually(
      async () =>
        notifierOf(bench(), lost)
          .describe()
          .catch(() => undefined),
      (notifier) => notifier !== undefined,
    );
    await lost.handle.terminate("by mistake");
    await ended(lost);
    expect(toldTo(fake)).to.deep.equal(["upgrade.lost"]);
  });

  it("show in the Temporal Web UI whom they are for, and what is still to be delivered", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({ deliverNotification: () => gate.pass().then(() => ({ outcome: "DELIVERED" })) });
    const upgrade = await bench().upgrade({ draft: true, notifications: [chat] }, fake);
    await gate.reached;
    const notifier = notifierOf(bench(), upgrade);
    const described = await notifier.describe();
    expect(await described.staticSummary()).to.equal(`Notifications: ${upgrade.plan.name}`);
    expect(await described.staticDetails()).to.contain(upgrade.id);
    const details = async () =>
      (await notifier.query<{ currentDetails?: string }>("__temporal_workflow_metadata")).currentDetails;
    expect(await details()).to.equal("0 delivered, 0 given up\n\n- chat: 1 to deliver");
    const { events } = await notifier.fetchHistory();
    const scheduled = (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes);
    expect(await Promise.all(scheduled.map((event) => upgrade.summaryOf(event)))).to.deep.equal([
      "upgrade.draft.ready to chat",
    ]);
    gate.open();
    await eventually(details, (text) => text === "1 delivered, 0 given up");
  });
});
