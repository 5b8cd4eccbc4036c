import { FakeActivities, Gate, hostFailure, hostProgress, upgraded } from "../../../support/fake-activities";
import { quickHeartbeats } from "../../../support/quick-heartbeats";
import { clusters } from "../../../support/sample-plan";
import { hostCount, type Story } from "../story";

/** Upgrades that need nobody: also where hosts fail at first, and where workers come and go. */
export const successStories: Readonly<Record<string, Story>> = {
  "two-clusters": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await bench.upgrade({ resources: clusters(2) }, new FakeActivities({}, hostCount));
      await upgrade.end();
      return upgrade;
    },
  },

  // The second look does not find the cluster healthy at once.
  "health-gate": {
    ends: "COMPLETED",
    async tell(bench) {
      let looks = 0;
      const fake = new FakeActivities(
        { lookAtHealth: async () => (++looks === 2 ? { healthy: false, check: "check-2" } : { healthy: true }) },
        hostCount,
      );
      const upgrade = await bench.upgrade({ rollout: { healthGate: true } }, fake);
      await upgrade.end();
      return upgrade;
    },
  },

  "nothing-to-do": {
    ends: "COMPLETED",
    async tell(bench) {
      const fake = new FakeActivities({ readClusterHosts: async () => [] });
      const upgrade = await bench.upgrade({}, fake);
      await upgrade.end();
      return upgrade;
    },
  },

  "host-succeeds-at-the-third-attempt": {
    ends: "COMPLETED",
    async tell(bench) {
      const action = { action: "RETRY", retryCount: 2, retryDelay: 0 } as const;
      const resources = clusters(1).map((cluster) => ({
        ...cluster,
        hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: action },
      }));
      let reported = 0;
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            if (reported < action.retryCount) throw hostFailure(input, ++reported);
            return upgraded(input);
          },
        },
        hostCount,
      );
      const upgrade = await bench.upgrade({ resources }, fake);
      await upgrade.end();
      return upgrade;
    },
  },

  "worker-killed": {
    ends: "COMPLETED",
    async tell(bench) {
      let imageLost = false;
      const fake = new FakeActivities(
        {
          setDesiredImage: async () => {
            if (!imageLost) {
              imageLost = true;
              await new Gate().die();
            }
            return { changed: true, commit: "1" };
          },
          remediateHost: async (input) => {
            if (!input.resume && input.host.host === "host-1")
              await new Gate().die({ ...hostProgress(input, 0), remoteTask: "task-7" });
            return upgraded(input);
          },
        },
        hostCount,
      );
      const upgrade = await bench.upgrade({ resources: clusters(1, quickHeartbeats) }, fake);
      await upgrade.end();
      return upgrade;
    },
  },

  "worker-stopped": {
    ends: "COMPLETED",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            if (!input.resume) await gate.pass({ ...hostProgress(input, 0), remoteTask: "task-7" });
            return upgraded(input);
          },
        },
        1,
      );
      const upgrade = await bench.upgrade({}, fake);
      await gate.reached;
      await bench.stopWorker();
      await bench.startWorker();
      await upgrade.end();
      return upgrade;
    },
  },

  "lock-taken-from-a-holder-that-ends": {
    ends: "COMPLETED",
    async tell(bench) {
      const gate = new Gate();
      const resources = clusters(1);
      const holding = new FakeActivities({ readClusterHosts: () => gate.pass().then(() => []) });
      const holder = await bench.upgrade({ resources }, holding);
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
      );
      const upgrade = await bench.upgrade({ resources }, fake);
      await upgrade.end();
      return upgrade;
    },
  },
};
