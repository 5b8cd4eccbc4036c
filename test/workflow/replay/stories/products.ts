import { randomUUID } from "node:crypto";
import type { Bundle } from "../../../../src/domain/spec/bundle";
import { requestSignals } from "../../../../workflows/messages";
import { eventually } from "../../../support/eventually";
import { activityFailure, FakeActivities, Gate, hostFailure, upgraded } from "../../../support/fake-activities";
import { mgmtProgress, mgmtStepFailure } from "../../../support/fake-mgmt-activities";
import { quickHeartbeats } from "../../../support/quick-heartbeats";
import { clusters, sampleBundle, type SamplePlanOptions } from "../../../support/sample-plan";
import { failed, hostCount, type Story } from "../story";

const netvirt = { id: "netvirt", type: "NETVIRT", toVersion: "9.0.1.0.24952111" } as const;
const mgmt = { id: "mgmt", type: "MGMT", toVersion: "9.0.2.0" } as const;
const [hostos] = sampleBundle.components ?? [];

function bundleOf(...components: NonNullable<Bundle["components"]>): Bundle {
  return { ...sampleBundle, id: "bundle-platform", components };
}

/** A platform with ids of its own: a NETVIRT manager and a management server, which serves one more cluster as well. */
function platform(prefix = ""): Required<Pick<SamplePlanOptions, "installations" | "resources">> {
  const id = randomUUID().slice(0, 8);
  return {
    resources: clusters(2),
    installations: {
      netvirt: [
        {
          resourceId: `${prefix}nsx-${id}`,
          name: "nsx-01",
          componentManagerId: "nsx-01",
          domain: "fra1",
          clusters: [],
        },
      ],
      management: [
        {
          resourceId: `${prefix}vc-${id}`,
          name: "vc-01",
          componentManagerId: "vc01",
          clusters: [`other-${id}`],
          places: [{ domain: "fra1" }],
        },
      ],
      personalities: [],
      isos: [],
    },
  };
}

/** A cluster managed by an image, with options that the product carries out for hosts one by one only. */
function powerOffTwoAtOnce(): SamplePlanOptions {
  const hostosUpgradeOptionsSpec = {
    preRemediationPowerAction: "POWER_OFF_VMS",
    disableHac: true,
    disableDpm: true,
  } as const;
  const resources = clusters(1).map((resource) => ({ ...resource, hostosUpgradeOptionsSpec }));
  return { resources, kinds: ["IMAGE"], rollout: { hostsAtOnce: 2 } };
}

const migration = { upgradeMechanism: "ReducedDowntimeMigration" } as const;

/** Upgrades of several products, of servers alone, of both kinds of cluster, and by a rollout policy. */
export const productStories: Readonly<Record<string, Story>> = {
  "whole-platform": {
    ends: "COMPLETED",
    async tell(bench) {
      const options = { ...platform(), bundle: bundleOf(netvirt, mgmt, ...(hostos ? [hostos] : [])) };
      const upgrade = await bench.upgrade(
        {
          ...options,
          kinds: ["IMAGE", "BASELINE"],
          inputs: { mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "InPlace" }] },
        },
        new FakeActivities({}, hostCount),
      );
      await upgrade.end();
      return upgrade;
    },
  },

  "rollout-policy": {
    ends: "COMPLETED",
    server: "TIME_SKIPPING",
    async tell(bench) {
      const rollout = { hostsAtOnce: 2, soakSeconds: 60, healthGate: true, toleratedFailures: 1 };
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            if (input.host.host === "host-2") throw hostFailure(input);
            return upgraded(input);
          },
        },
        3,
      );
      const upgrade = await bench.upgrade({ resources: clusters(2), kinds: ["IMAGE", "BASELINE"], rollout }, fake);
      await upgrade.end();
      return upgrade;
    },
  },

  "open-rollout-policy": {
    ends: "OPEN",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities(
        { remediateHosts: () => gate.pass().then(() => Promise.reject(new Error("open"))) },
        3,
      );
      const upgrade = await bench.upgrade({ rollout: { hostsAtOnce: 2, healthGate: true } }, fake);
      await gate.reached;
      return upgrade;
    },
  },

  "options-of-hosts-at-once": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await bench.upgrade(powerOffTwoAtOnce(), new FakeActivities({}, 3));
      await upgrade.end();
      return upgrade;
    },
  },

  "open-options-of-hosts-at-once": {
    ends: "OPEN",
    async tell(bench) {
      const gate = new Gate();
      const open = () => gate.pass().then(() => Promise.reject(new Error("open")));
      const fake = new FakeActivities({ remediateHost: open, remediateHosts: open }, 3);
      const upgrade = await bench.upgrade(powerOffTwoAtOnce(), fake);
      await gate.reached;
      return upgrade;
    },
  },

  "netvirt-fails": {
    ends: "OPEN",
    async tell(bench) {
      const fake = new FakeActivities({
        upgradeNetvirtComponent: () => Promise.reject(activityFailure("NETVIRT_UPGRADE_FAILED")),
      });
      const upgrade = await bench.upgrade({ ...platform(), bundle: bundleOf(netvirt, mgmt) }, fake);
      await upgrade.untilStatuses(failed);
      return upgrade;
    },
  },

  "netvirt-cancelled-after-its-worker-was-killed": {
    ends: "CANCELED",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities({
        upgradeNetvirtComponent: async ({ component, resume, stop }) => {
          if (stop) throw activityFailure("CANCELLED");
          const progress = { component, reportedFailures: 0, activity: "Upgrading.", percent: 50, nodes: [] };
          if (!resume) await new Gate().die(progress);
          await gate.pass(progress);
          return { component, outcome: "UPGRADED" };
        },
      });
      const upgrade = await bench.upgrade({ ...platform(quickHeartbeats), bundle: bundleOf(netvirt) }, fake);
      await gate.reached;
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "open-in-the-middle-of-netvirt": {
    ends: "OPEN",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities({
        upgradeNetvirtComponent: async ({ component }) => {
          if (component === "EDGE") await gate.pass();
          return { component, outcome: "UPGRADED" };
        },
      });
      const upgrade = await bench.upgrade({ ...platform(), bundle: bundleOf(netvirt) }, fake);
      await gate.reached;
      return upgrade;
    },
  },

  "migration-waits-for-its-switchover": {
    ends: "COMPLETED",
    server: "TIME_SKIPPING",
    async tell(bench) {
      const startSwitchoverTimestamp = await bench.inTime(3_600_000);
      const inputs = { mgmtUpgradeUserInputSpecs: [{ ...migration, startSwitchoverTimestamp }] };
      const upgrade = await bench.upgrade({ ...platform(), bundle: bundleOf(mgmt), inputs }, new FakeActivities());
      await upgrade.end();
      return upgrade;
    },
  },

  "migration-whose-switchover-is-moved": {
    ends: "COMPLETED",
    server: "TIME_SKIPPING",
    async tell(bench) {
      const inputs = {
        mgmtUpgradeUserInputSpecs: [{ ...migration, startSwitchoverTimestamp: await bench.inTime(36_000_000) }],
      };
      const planned = platform();
      const upgrade = await bench.upgrade({ ...planned, bundle: bundleOf(mgmt), inputs }, new FakeActivities());
      await eventually(
        () => upgrade.subTask(),
        ({ description }) => description.startsWith("Prepared."),
      );
      const startSwitchoverTimestamp = await bench.inTime(3_600_000);
      const [server] = planned.installations.management;
      const mgmtUpgradePatchSpecs = [{ resourceId: server?.resourceId, startSwitchoverTimestamp }];
      await upgrade.handle.signal(requestSignals.commit, { mgmtUpgradePatchSpecs });
      await upgrade.end();
      return upgrade;
    },
  },

  "open-migration": {
    ends: "OPEN",
    async tell(bench) {
      const inputs = {
        mgmtUpgradeUserInputSpecs: [{ ...migration, startSwitchoverTimestamp: await bench.inTime(3_600_000) }],
      };
      const upgrade = await bench.upgrade({ ...platform(), bundle: bundleOf(mgmt), inputs }, new FakeActivities());
      await eventually(
        () => upgrade.subTask(),
        ({ description }) => description.startsWith("Prepared."),
      );
      return upgrade;
    },
  },

  "migration-cancelled-while-it-waits": {
    ends: "CANCELED",
    async tell(bench) {
      const inputs = {
        mgmtUpgradeUserInputSpecs: [{ ...migration, startSwitchoverTimestamp: await bench.inTime(3_600_000) }],
      };
      const upgrade = await bench.upgrade({ ...platform(), bundle: bundleOf(mgmt), inputs }, new FakeActivities());
      await eventually(
        () => upgrade.subTask(),
        ({ description }) => description.startsWith("Prepared."),
      );
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "migration-fails": {
    ends: "OPEN",
    async tell(bench) {
      const inputs = { mgmtUpgradeUserInputSpecs: [migration] };
      const fake = new FakeActivities({
        prepareMgmtMigration: (input) => Promise.reject(mgmtStepFailure(input)),
      });
      const upgrade = await bench.upgrade({ ...platform(), bundle: bundleOf(mgmt), inputs }, fake);
      await upgrade.untilStatuses(failed);
      return upgrade;
    },
  },

  "update-in-place-cancelled-after-its-worker-was-killed": {
    ends: "CANCELED",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities({
        stageMgmtUpdate: async ({ resume, stop }) => {
          if (stop) throw activityFailure("CANCELLED");
          if (!resume) await new Gate().die(mgmtProgress());
          await gate.pass(mgmtProgress());
        },
      });
      const inputs = { mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "InPlace" as const }] };
      const upgrade = await bench.upgrade({ ...platform(quickHeartbeats), bundle: bundleOf(mgmt), inputs }, fake);
      await gate.reached;
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "installation-fails-for-good": {
    ends: "FAILED",
    async tell(bench) {
      const fake = new FakeActivities({
        installMgmtUpdate: (input) =>
          Promise.reject(mgmtStepFailure(input, { code: "MGMT_INSTALL_FAILED", final: true })),
      });
      const inputs = { mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "InPlace" as const }] };
      const upgrade = await bench.upgrade({ ...platform(), bundle: bundleOf(mgmt), inputs }, fake);
      await upgrade.untilStatuses(failed);
      await upgrade.ask("retry");
      await upgrade.ask("resolve");
      await upgrade.end();
      return upgrade;
    },
  },
};
