import { eventually } from "../../../support/eventually";
import {
  activityFailure,
  FakeActivities,
  Gate,
  hostFailure,
  hostProgress,
  passedCheck,
  upgraded,
} from "../../../support/fake-activities";
import { clusters } from "../../../support/sample-plan";
import type { UpgradeBench } from "../../../support/upgrade-bench";
import { draftWaiting, hostCount, scheduled, type Story } from "../story";

/** Upgrades that are cancelled, wherever they are, and one in the middle of its work. */
export const cancelStories: Readonly<Record<string, Story>> = {
  "cancelled-in-the-middle-of-a-host": {
    ends: "CANCELED",
    async tell(bench) {
      const { upgrade } = await inHost(bench);
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "cancelled-by-somebody-known": {
    ends: "CANCELED",
    async tell(bench) {
      const { upgrade } = await inHost(bench);
      await upgrade.handle.signal("record", { request: "cancel", requestedBy: "alice", via: "HTTP" });
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "cancelled-while-no-worker-runs": {
    ends: "CANCELED",
    async tell(bench) {
      const { upgrade } = await inHost(bench);
      await bench.stopWorker();
      await upgrade.handle.cancel();
      await bench.startWorker();
      await upgrade.end();
      return upgrade;
    },
  },

  "cancelled-as-draft": {
    ends: "CANCELED",
    async tell(bench) {
      const upgrade = await bench.upgrade({ draft: true });
      await upgrade.untilStatuses(draftWaiting);
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "cancelled-before-its-time": {
    ends: "CANCELED",
    async tell(bench) {
      const scheduledTimestamp = await bench.inTime(86_400_000);
      const resources = clusters(1).map((cluster) => ({ ...cluster, scheduledTimestamp }));
      const upgrade = await bench.upgrade({ resources });
      await upgrade.untilStatuses(scheduled);
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "cancelled-in-its-prechecks": {
    ends: "CANCELED",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities({
        runClusterPrechecks: () => gate.pass().then(() => ({ stages: passedCheck() })),
      });
      const upgrade = await bench.upgrade({}, fake);
      await gate.reached;
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "cancelled-between-two-attempts": {
    ends: "CANCELED",
    async tell(bench) {
      const action = { action: "RETRY", retryCount: 2, retryDelay: 3600 } as const;
      const resources = clusters(1).map((cluster) => ({
        ...cluster,
        hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: action },
      }));
      const fake = new FakeActivities({
        remediateHost: async (input) => {
          throw input.stop ? activityFailure("CANCELLED") : hostFailure(input);
        },
      });
      const upgrade = await bench.upgrade({ resources }, fake);
      const child = await upgrade.child();
      await eventually(
        async () => (await child.describe()).raw.pendingActivities?.[0]?.attempt,
        (attempt) => attempt === 2,
      );
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "cancelled-while-the-policy-is-set": {
    ends: "CANCELED",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities({ putRemediationPolicy: () => gate.pass().catch(() => undefined) });
      const upgrade = await bench.upgrade({}, fake);
      await gate.reached;
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "cancelled-although-its-last-host-was-upgraded": {
    ends: "CANCELED",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            await gate.pass().catch(() => undefined);
            return upgraded(input);
          },
        },
        1,
      );
      const upgrade = await bench.upgrade({}, fake);
      await gate.reached;
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "open-in-the-middle-of-a-host": {
    ends: "OPEN",
    tell: async (bench) => (await inHost(bench)).upgrade,
  },
};

/** An upgrade whose second host is in work. */
async function inHost(bench: UpgradeBench) {
  const gate = new Gate();
  const fake = new FakeActivities(
    {
      remediateHost: async (input) => {
        if (input.stop) throw activityFailure("CANCELLED");
        if (input.host.host === "host-2") await gate.pass({ ...hostProgress(input, 0), remoteTask: "task-7" });
        return upgraded(input);
      },
    },
    hostCount,
  );
  const upgrade = await bench.upgrade({}, fake);
  await gate.reached;
  return { upgrade, gate };
}
