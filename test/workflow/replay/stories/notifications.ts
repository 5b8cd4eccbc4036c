import { ApplicationFailure } from "@temporalio/common";
import type { NotificationInput } from "../../../../activities/contract";
import { notifyWorkflowId } from "../../../../src/domain/notifications/upgrade-notification";
import { eventually } from "../../../support/eventually";
import { FakeActivities, Gate, hostFailure, upgraded } from "../../../support/fake-activities";
import { dataOf, notifierOf, untilAllIsTold } from "../../../support/notifier";
import type { RunningUpgrade } from "../../../support/running-upgrade";
import type { UpgradeBench } from "../../../support/upgrade-bench";
import { draftWaiting, failed, hostCount, type Story } from "../story";

const receivers = [
  { id: "chat", retryHours: 24 },
  { id: "pager", events: ["upgrade.failed", "upgrade.host.failed"], retryHours: 1 },
] as const;

/** Upgrades whose receivers are told what happens to them. */
export const notificationStories: Readonly<Record<string, Story>> = {
  "told-of-a-draft": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await bench.upgrade({ draft: true, notifications: receivers }, new FakeActivities({}, hostCount));
      await upgrade.untilStatuses(draftWaiting);
      await upgrade.ask("commit");
      return toItsEnd(bench, upgrade);
    },
  },

  "told-of-a-failure-and-a-retry": {
    ends: "COMPLETED",
    async tell(bench) {
      let reported = 0;
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            if (reported === 0) throw hostFailure(input, ++reported);
            return upgraded(input);
          },
          deliverNotification: async ({ receiver }: NotificationInput) => {
            if (receiver === "pager")
              throw ApplicationFailure.nonRetryable("not there", "NOTIFICATION_RECEIVER_UNKNOWN");
            return { outcome: "DELIVERED" };
          },
        },
        hostCount,
      );
      const upgrade = await bench.upgrade({ notifications: receivers }, fake);
      await upgrade.untilStatuses(failed);
      await upgrade.ask("retry");
      return toItsEnd(bench, upgrade);
    },
  },

  "told-of-a-cancellation": {
    ends: "CANCELED",
    async tell(bench) {
      const { upgrade } = await paused(bench);
      await upgrade.handle.cancel();
      return toItsEnd(bench, upgrade);
    },
  },

  "told-to-nobody-who-listens": {
    ends: "COMPLETED",
    async tell(bench) {
      const fake = new FakeActivities({ deliverNotification: async () => ({ outcome: "GONE" }) }, hostCount);
      return toItsEnd(bench, await bench.upgrade({ notifications: receivers }, fake));
    },
  },

  "told-of-a-resolution": {
    ends: "FAILED",
    async tell(bench) {
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            throw hostFailure(input);
          },
        },
        hostCount,
      );
      const upgrade = await bench.upgrade({ notifications: receivers }, fake);
      await upgrade.untilStatuses(failed);
      await upgrade.ask("resolve");
      return toItsEnd(bench, upgrade);
    },
  },

  "told-of-a-loss": {
    ends: "TERMINATED",
    async tell(bench) {
      const upgrade = await bench.upgrade({ draft: true, notifications: receivers }, new FakeActivities({}, hostCount));
      await upgrade.untilStatuses(draftWaiting);
      await untilAllIsTold(bench, upgrade);
      await upgrade.handle.terminate("by mistake");
      return toItsEnd(bench, upgrade);
    },
  },

  "told-by-several-runs": {
    ends: "COMPLETED",
    settings: ["limit.historyCount.suggestContinueAsNew=30"],
    async tell(bench) {
      const { upgrade, open } = await paused(bench, true);
      for (let round = 0; round < 4; round++) {
        for (const request of ["resume", "pause"] as const) await upgrade.ask(request);
        await untilAllIsTold(bench, upgrade);
      }
      open();
      await upgrade.ask("resume");
      return toItsEnd(bench, upgrade);
    },
  },

  "told-after-the-upgrade-continued": {
    ends: "COMPLETED",
    settings: ["limit.historyCount.suggestContinueAsNew=60"],
    async tell(bench) {
      const upgrade = await continuedDraft(bench);
      await upgrade.ask("commit");
      return toItsEnd(bench, upgrade);
    },
  },

  "open-after-the-upgrade-continued": {
    ends: "OPEN",
    settings: ["limit.historyCount.suggestContinueAsNew=60"],
    tell: continuedDraft,
  },

  "told-that-the-window-closes": {
    ends: "COMPLETED",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, hostCount);
      bench.closings.set("fra1", Date.now() + 30 * 60_000 + 1_000);
      const upgrade = await bench.upgrade({ notifications: receivers }, fake);
      await eventually(
        async () => dataOf(fake, "upgrade.window.ending"),
        ({ length }) => length > 0,
      );
      bench.closings.clear();
      gate.open();
      return toItsEnd(bench, upgrade);
    },
  },

  "told-of-a-long-wait": {
    ends: "COMPLETED",
    async tell(bench) {
      const gate = new Gate();
      let looks = 0;
      const fake = new FakeActivities(
        {
          remediateHost: (input) => gate.pass().then(() => upgraded(input)),
          readUpgradeWaits: async () => {
            looks += 1;
            return { waits: [{ key: "cluster", wait: { code: "HEALTH_GATE", message: "Waiting for DRS." } }] };
          },
        },
        hostCount,
      );
      const waits = [{ id: "chat", retryHours: 24, events: ["upgrade.wait.long"] }] as const;
      const upgrade = await bench.upgrade({ notifications: waits, longWaitMinutes: 1 / 60 }, fake);
      await eventually(
        async () => looks,
        (count) => count >= 2,
      );
      await untilAllIsTold(bench, upgrade);
      gate.open();
      return toItsEnd(bench, upgrade);
    },
  },

  "told-in-order": {
    ends: "COMPLETED",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities(
        { deliverNotification: () => gate.pass().then(() => ({ outcome: "DELIVERED" })) },
        hostCount,
      );
      const upgrade = await bench.upgrade({ notifications: receivers }, fake);
      await upgrade.end();
      gate.open();
      return toItsEnd(bench, upgrade);
    },
  },

  "open-while-told-of-a-pause": {
    ends: "OPEN",
    async tell(bench) {
      const { upgrade } = await paused(bench);
      return upgrade;
    },
  },
};

async function toItsEnd(bench: UpgradeBench, upgrade: RunningUpgrade): Promise<RunningUpgrade> {
  await upgrade.end();
  await notifierOf(bench, upgrade).result();
  return upgrade;
}

/** A draft that has continued as new, and whose receivers know all of it. */
async function continuedDraft(bench: UpgradeBench): Promise<RunningUpgrade> {
  const upgrade = await bench.upgrade({ draft: true, notifications: receivers }, new FakeActivities({}, hostCount));
  await upgrade.untilStatuses(draftWaiting);
  const { runId } = await upgrade.handle.describe();
  while ((await upgrade.handle.describe()).runId === runId) {
    await upgrade.ask("prechecks");
    await upgrade.untilStatuses(draftWaiting);
  }
  await untilAllIsTold(bench, upgrade);
  // Of the second run.
  const watching = bench.env.client.workflow.getHandle(`${notifyWorkflowId(upgrade.id)}/end/2`);
  await eventually(
    () =>
      watching.describe().then(
        ({ status }) => status.name,
        () => undefined,
      ),
    (status) => status === "RUNNING",
  );
  return upgrade;
}

/** An upgrade that is paused after its first host, or while that stays in work, and whose receivers know. */
async function paused(bench: UpgradeBench, staysInWork = false) {
  const gate = new Gate();
  const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, hostCount);
  const upgrade = await bench.upgrade({ notifications: receivers }, fake);
  await gate.reached;
  await upgrade.ask("pause");
  if (!staysInWork) gate.open();
  await untilAllIsTold(bench, upgrade);
  return { upgrade, open: gate.open };
}
