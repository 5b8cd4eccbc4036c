import { ApplicationFailure } from "@temporalio/common";
import { activityQuery } from "../../../../workflows/messages";
import type { ClusterHost } from "../../../../src/domain/task/host-remediation";
import {
  activityFailure,
  failedCheck,
  FakeActivities,
  Gate,
  hostFailure,
  hostProgress,
  passedCheck,
  sampleError,
  sampleHosts,
  upgraded,
} from "../../../support/fake-activities";
import { eventually } from "../../../support/eventually";
import type { RunningUpgrade } from "../../../support/running-upgrade";
import { clusters } from "../../../support/sample-plan";
import type { UpgradeBench } from "../../../support/upgrade-bench";
import { failed, hostCount, scheduled, type Story } from "../story";

/** Upgrades that fail, and what becomes of them. */
export const failureStories: Readonly<Record<string, Story>> = {
  "retried-after-a-failed-host": {
    ends: "COMPLETED",
    async tell(bench) {
      const { upgrade, mend } = await failedHost(bench);
      mend();
      await upgrade.ask("retry");
      await upgrade.end();
      return upgrade;
    },
  },

  "retried-without-the-host-that-failed": {
    ends: "COMPLETED",
    async tell(bench) {
      const { upgrade } = await failedHost(bench);
      const part = { resourceId: upgrade.resourceId(), hostId: "host-2" };
      await upgrade.ask("skip", { ...part, reason: "In repair.", requestedBy: "operator" });
      await upgrade.ask("retry");
      await upgrade.end();
      return upgrade;
    },
  },

  "retried-one-cluster-after-the-other": {
    ends: "COMPLETED",
    async tell(bench) {
      const resources = clusters(2);
      let fails = true;
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            if (fails) throw hostFailure(input);
            return upgraded(input);
          },
        },
        1,
      );
      const upgrade = await bench.upgrade({ resources }, fake);
      await upgrade.untilStatuses(failed);
      fails = false;
      await upgrade.ask("retry", { resourceIds: [resources[0]?.resourceId] });
      await eventually(
        () => upgrade.handle.query(activityQuery),
        ({ entries }) => entries.filter(({ kind }) => kind === "FAILED").length === 2,
      );
      await upgrade.ask("retry", { skipResources: [resources[1]?.resourceId], reason: "Another night." });
      await upgrade.end();
      return upgrade;
    },
  },

  "host-left-in-maintenance-mode-is-restored": {
    ends: "FAILED",
    server: "TIME_SKIPPING",
    async tell(bench) {
      const [first, second] = sampleHosts(2) as [ClusterHost, ClusterHost];
      let isInside = false;
      const fake = new FakeActivities({
        readClusterHosts: async () => [first, isInside ? { ...second, inMaintenanceMode: true } : second],
        remediateHost: async (input) => {
          if (input.host.host === first.host) return upgraded(input);
          isInside = true;
          const error = sampleError("HOST_REMEDIATION_FAILED", `Host ${input.host.fqdn} failed`);
          const progress = { ...hostProgress(input, 1, error), inMaintenanceMode: [0] };
          throw ApplicationFailure.create({
            message: error.message,
            type: "HOST_REMEDIATION_FAILED",
            nonRetryable: true,
            details: [{ error, progress }],
          });
        },
        restoreHosts: async () => {
          isInside = false;
        },
      });
      const upgrade = await bench.upgrade({}, fake);
      await upgrade.end();
      return upgrade;
    },
  },

  "resolved-after-a-failed-host": {
    ends: "FAILED",
    async tell(bench) {
      const { upgrade } = await failedHost(bench);
      await upgrade.ask("resolve", { requestedBy: "operator" });
      await upgrade.end();
      return upgrade;
    },
  },

  "nobody-resolves-it": {
    ends: "FAILED",
    server: "TIME_SKIPPING",
    async tell(bench) {
      const { upgrade } = await failedHost(bench);
      await upgrade.end();
      return upgrade;
    },
  },

  "cancelled-after-a-failed-host": {
    ends: "FAILED",
    async tell(bench) {
      const { upgrade } = await failedHost(bench);
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "host-fails-at-every-attempt": {
    ends: "OPEN",
    async tell(bench) {
      const action = { action: "RETRY", retryCount: 1, retryDelay: 0 } as const;
      const resources = clusters(2).map((cluster) => ({
        ...cluster,
        hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: action },
      }));
      let reported = 0;
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            if (input.cluster.resourceId === resources[0]?.resourceId) throw hostFailure(input, ++reported);
            return upgraded(input);
          },
        },
        hostCount,
      );
      const upgrade = await bench.upgrade({ resources }, fake);
      await upgrade.untilStatuses(failed);
      return upgrade;
    },
  },

  "tolerates-a-failed-host-of-many": {
    ends: "COMPLETED",
    async tell(bench) {
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            if (input.host.host === "host-1") throw hostFailure(input);
            return upgraded(input);
          },
        },
        20,
      );
      const upgrade = await bench.upgrade({ rollout: { toleratedFailures: 1 } }, fake);
      await upgrade.end();
      return upgrade;
    },
  },

  "prechecks-fail": {
    ends: "FAILED",
    async tell(bench) {
      const fake = new FakeActivities({ runClusterPrechecks: async () => ({ stages: failedCheck() }) });
      const upgrade = await bench.upgrade({}, fake);
      await upgrade.untilStatuses(failed);
      await upgrade.ask("resolve");
      await upgrade.end();
      return upgrade;
    },
  },

  "prechecks-fail-when-its-time-comes": {
    ends: "OPEN",
    server: "TIME_SKIPPING",
    async tell(bench) {
      let runs = 0;
      const fake = new FakeActivities({
        runClusterPrechecks: async () => ({ stages: ++runs === 1 ? passedCheck() : failedCheck() }),
      });
      const day = 86_400_000;
      const scheduledTimestamp = await bench.inTime(day);
      const resources = clusters(1).map((cluster) => ({ ...cluster, scheduledTimestamp }));
      const upgrade = await bench.upgrade({ resources }, fake);
      await upgrade.untilStatuses(scheduled);
      await bench.env.sleep(day);
      await upgrade.untilStatuses(failed);
      return upgrade;
    },
  },

  "prechecks-cannot-run": {
    ends: "OPEN",
    async tell(bench) {
      const fake = new FakeActivities({
        runClusterPrechecks: () => Promise.reject(activityFailure("COMPONENT_MANAGER_UNREACHABLE")),
      });
      const upgrade = await bench.upgrade({}, fake);
      await upgrade.untilStatuses(failed);
      return upgrade;
    },
  },

  "lock-refused": {
    ends: "OPEN",
    async tell(bench) {
      const gate = new Gate();
      // Locks are taken in the order of ids: the first is free, and given back when the second is not.
      const resources = clusters(2).sort((a, b) => (a.resourceId < b.resourceId ? -1 : 1));
      const holding = new FakeActivities({ readClusterHosts: () => gate.pass().then(() => []) });
      const holder = await bench.upgrade({ resources: resources.slice(1) }, holding);
      await gate.reached;
      const fake = new FakeActivities({ readLockHolder: async () => ({ upgradeId: holder.id }) });
      const upgrade = await bench.upgrade({ resources }, fake);
      await upgrade.untilStatuses(failed);
      return upgrade;
    },
  },

  "policy-cannot-be-restored": {
    ends: "OPEN",
    async tell(bench) {
      const fake = new FakeActivities(
        { restoreRemediationPolicy: () => Promise.reject(activityFailure("POLICY_REFUSED")) },
        1,
      );
      const upgrade = await bench.upgrade({}, fake);
      await upgrade.untilStatuses(failed);
      return upgrade;
    },
  },

  "cluster-workflow-terminated": {
    ends: "OPEN",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) });
      const upgrade = await bench.upgrade({}, fake);
      await gate.reached;
      await (await upgrade.child()).terminate("by an operator");
      await upgrade.untilStatuses(failed);
      return upgrade;
    },
  },

  "open-failed": {
    ends: "OPEN",
    tell: async (bench) => (await failedHost(bench)).upgrade,
  },
};

/** A failed upgrade that waits for retry or resolve: the second of its hosts failed. */
async function failedHost(bench: UpgradeBench): Promise<{ upgrade: RunningUpgrade; mend: () => void }> {
  let broken = true;
  const fake = new FakeActivities(
    {
      remediateHost: async (input) => {
        if (broken && input.host.host === "host-2") throw hostFailure(input);
        return upgraded(input);
      },
    },
    hostCount,
  );
  const upgrade = await bench.upgrade({}, fake);
  await upgrade.untilStatuses(failed);
  return { upgrade, mend: () => (broken = false) };
}
