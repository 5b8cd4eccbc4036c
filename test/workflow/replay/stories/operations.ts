import { randomUUID } from "node:crypto";
import type { UpgradeActivities } from "../../../../activities/contract";
import type { Bundle } from "../../../../src/domain/spec/bundle";
import type { MgmtUpgradeUserInputSpec } from "../../../../src/domain/spec/upgrade-spec";
import { eventually } from "../../../support/eventually";
import {
  failedCheck,
  FakeActivities,
  Gate,
  hostFailure,
  passedCheck,
  upgraded,
} from "../../../support/fake-activities";
import { untilQuiet } from "../../../support/quiet";
import { rejectionOf } from "../../../support/rejection-of";
import type { RunningUpgrade } from "../../../support/running-upgrade";
import { clusters, sampleBundle } from "../../../support/sample-plan";
import type { UpgradeBench } from "../../../support/upgrade-bench";
import { draftWaiting, failed, hostCount, type Story } from "../story";

/** So that a history of some prechecks or retries is a long one. */
const shortHistories = ["limit.historyCount.suggestContinueAsNew=50"];

/** Upgrades that are paused and resumed, and drafts whose prechecks run again. */
export const operationStories: Readonly<Record<string, Story>> = {
  "paused-and-resumed": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await pausedAfterHost(bench);
      await upgrade.ask("pause");
      await upgrade.ask("resume");
      await upgrade.end();
      return upgrade;
    },
  },

  "a-host-and-a-cluster-left-out": {
    ends: "COMPLETED",
    async tell(bench) {
      const [first, second] = clusters(2) as [{ resourceId: string }, { resourceId: string }];
      const later = { ...second, scheduledTimestamp: await bench.inTime(3_600_000) };
      const gate = new Gate();
      const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, hostCount);
      const upgrade = await bench.upgrade({ resources: [first, later] }, fake);
      await gate.reached;
      for (const hostId of ["host-1", "host-2", "host-9"])
        await upgrade.ask("skip", { resourceId: first.resourceId, hostId, reason: "In repair." });
      await upgrade.ask("skip", { resourceId: later.resourceId, reason: "Not tonight." });
      gate.open();
      await upgrade.end();
      return upgrade;
    },
  },

  "open-while-paused": { ends: "OPEN", tell: pausedAfterHost },

  "cancelled-while-paused": {
    ends: "CANCELED",
    async tell(bench) {
      const upgrade = await pausedAfterHost(bench);
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "fails-while-paused-then-retried": {
    ends: "COMPLETED",
    async tell(bench) {
      const gate = new Gate();
      let reported = 0;
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            await gate.pass();
            if (reported === 0) throw hostFailure(input, ++reported);
            return upgraded(input);
          },
        },
        hostCount,
      );
      const upgrade = await bench.upgrade({}, fake);
      await pauseIn(upgrade, gate);
      await upgrade.untilStatuses(failed);
      await upgrade.ask("retry");
      await upgrade.end();
      return upgrade;
    },
  },

  "paused-in-its-prechecks": {
    ends: "COMPLETED",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities({
        runClusterPrechecks: () => gate.pass().then(() => ({ stages: passedCheck() })),
      });
      const upgrade = await bench.upgrade({ resources: clusters(2) }, fake);
      await gate.reached;
      await upgrade.ask("pause");
      gate.open();
      await eventually(
        () => upgrade.task(),
        ({ subTasks }) => subTasks?.[0]?.status === "SUCCESSFUL",
      );
      await untilQuiet(upgrade);
      await upgrade.ask("resume");
      await upgrade.end();
      return upgrade;
    },
  },

  "paused-in-netvirt": {
    ends: "COMPLETED",
    async tell(bench) {
      const gate = new Gate();
      const upgrade = await platform(bench, ["NETVIRT", "HOSTOS"], {
        upgradeNetvirtComponent: async ({ component }) => {
          await gate.pass();
          return { component, outcome: "UPGRADED" };
        },
      });
      await pauseIn(upgrade, gate);
      await untilQuiet(upgrade, 0);
      await upgrade.ask("resume");
      await upgrade.end();
      return upgrade;
    },
  },

  "paused-between-staging-and-installation": {
    ends: "COMPLETED",
    async tell(bench) {
      const gate = new Gate();
      const upgrade = await platform(
        bench,
        ["MGMT"],
        { stageMgmtUpdate: () => gate.pass() },
        { upgradeMechanism: "InPlace" },
      );
      await pauseIn(upgrade, gate);
      await untilQuiet(upgrade, 0);
      await upgrade.ask("resume");
      await upgrade.end();
      return upgrade;
    },
  },

  "migration-cancelled-while-paused": {
    ends: "CANCELED",
    async tell(bench) {
      const gate = new Gate();
      const upgrade = await platform(
        bench,
        ["MGMT"],
        { prepareMgmtMigration: () => gate.pass() },
        { upgradeMechanism: "ReducedDowntimeMigration" },
      );
      await pauseIn(upgrade, gate);
      await untilQuiet(upgrade, 0);
      await upgrade.handle.cancel();
      await upgrade.end();
      return upgrade;
    },
  },

  "prechecks-run-again": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await draftWithFailedPrechecks(bench);
      await upgrade.ask("commit");
      await upgrade.ask("prechecks");
      await upgrade.untilStatuses(draftWaiting);
      await upgrade.ask("commit", { requestedBy: "operator" });
      await upgrade.end();
      return upgrade;
    },
  },

  "continued-while-a-draft-waits": { ends: "CONTINUED_AS_NEW", settings: shortHistories, tell: draftOfManyPrechecks },

  "a-draft-that-goes-on-from-an-earlier-run": {
    ends: "COMPLETED",
    settings: shortHistories,
    tell: draftOfManyPrechecks,
  },

  "retried-in-a-later-run": {
    ends: "COMPLETED",
    settings: shortHistories,
    async tell(bench) {
      let failures = 0;
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            if (++failures > 4) return upgraded(input);
            throw hostFailure(input);
          },
        },
        1,
      );
      const upgrade = await bench.upgrade({}, fake);
      for (let retry = 1; retry <= 4; retry++) {
        await upgrade.untilStatuses(failed);
        await untilQuiet(upgrade, 0);
        await upgrade.ask("retry");
      }
      await upgrade.end();
      return upgrade;
    },
  },

  "signals-without-payload": {
    ends: "COMPLETED",
    async tell(bench) {
      const gate = new Gate();
      const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, hostCount);
      const upgrade = await bench.upgrade({ draft: true }, fake);
      await upgrade.untilStatuses(draftWaiting);
      await upgrade.handle.signal("prechecks");
      await untilQuiet(upgrade);
      await upgrade.untilStatuses(draftWaiting);
      await upgrade.handle.signal("commit");
      await gate.reached;
      for (const name of ["pause", "resume"]) {
        await upgrade.handle.signal(name);
        await untilQuiet(upgrade);
      }
      gate.open();
      await upgrade.end();
      return upgrade;
    },
  },

  "asked-by-updates": {
    ends: "COMPLETED",
    async tell(bench) {
      const gate = new Gate();
      let reported = 0;
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            await gate.pass();
            if (reported === 0) throw hostFailure(input, ++reported);
            return upgraded(input);
          },
        },
        1,
      );
      const upgrade = await bench.upgrade({ draft: true }, fake);
      await upgrade.untilStatuses(draftWaiting);
      await rejectionOf(upgrade.update("pause"));
      await upgrade.update("prechecks");
      await upgrade.untilStatuses(draftWaiting);
      await upgrade.update("commit", { requestedBy: "operator" });
      await gate.reached;
      for (const name of ["pause", "resume"] as const) {
        await upgrade.update(name);
        await untilQuiet(upgrade);
      }
      gate.open();
      await upgrade.untilStatuses(failed);
      await untilQuiet(upgrade, 0);
      await upgrade.update("retry");
      await upgrade.end();
      return upgrade;
    },
  },

  "resolved-by-an-update": {
    ends: "FAILED",
    async tell(bench) {
      const upgrade = await bench.upgrade(
        {},
        new FakeActivities({ remediateHost: (input) => Promise.reject(hostFailure(input)) }, 1),
      );
      await upgrade.untilStatuses(failed);
      await upgrade.update("resolve");
      await upgrade.end();
      return upgrade;
    },
  },

  "open-while-prechecks-run-again": {
    ends: "OPEN",
    async tell(bench) {
      const gate = new Gate();
      const upgrade = await draftWithFailedPrechecks(bench, gate);
      await upgrade.ask("prechecks");
      await gate.reached;
      await upgrade.ask("prechecks");
      return upgrade;
    },
  },
};

/** An upgrade that is paused, whose first host has ended since then. */
async function pausedAfterHost(bench: UpgradeBench): Promise<RunningUpgrade> {
  const gate = new Gate();
  const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, hostCount);
  const upgrade = await bench.upgrade({}, fake);
  await pauseIn(upgrade, gate);
  await eventually(
    () => upgrade.hosts(),
    ([first]) => first === "SUCCESSFUL",
  );
  await untilQuiet(upgrade, 0);
  return upgrade;
}

/** Pauses what is at a gate, and lets that go on once the first resource knows. */
async function pauseIn(upgrade: RunningUpgrade, gate: Gate): Promise<void> {
  await gate.reached;
  await upgrade.ask("pause", { requestedBy: "operator" });
  await eventually(
    () => upgrade.subTask(),
    ({ description }) => description.startsWith("Paused: "),
  );
  gate.open();
}

/** A draft whose first prechecks have failed; the next ones pass, after the gate if there is one. */
async function draftWithFailedPrechecks(bench: UpgradeBench, gate?: Gate): Promise<RunningUpgrade> {
  let runs = 0;
  const fake = new FakeActivities(
    {
      runClusterPrechecks: async () => {
        if (runs++ === 0) return { stages: failedCheck() };
        await gate?.pass();
        return { stages: passedCheck() };
      },
    },
    1,
  );
  const upgrade = await bench.upgrade({ draft: true }, fake);
  await upgrade.untilStatuses(draftWaiting);
  return upgrade;
}

async function draftOfManyPrechecks(bench: UpgradeBench): Promise<RunningUpgrade> {
  const upgrade = await bench.upgrade({ draft: true }, new FakeActivities({}, 1));
  for (let run = 1; run <= 8; run++) {
    await upgrade.untilStatuses(draftWaiting);
    await upgrade.ask("prechecks");
  }
  await upgrade.untilStatuses(draftWaiting);
  await upgrade.ask("commit");
  await upgrade.end();
  return upgrade;
}

function platform(
  bench: UpgradeBench,
  products: readonly string[],
  replaced: Partial<UpgradeActivities>,
  mgmt?: MgmtUpgradeUserInputSpec,
): Promise<RunningUpgrade> {
  const id = randomUUID().slice(0, 8);
  const components: NonNullable<Bundle["components"]> = [
    { id: "netvirt", type: "NETVIRT", toVersion: "9.0.1.0.24952111" },
    { id: "mgmt", type: "MGMT", toVersion: "9.0.2.0" },
    ...(sampleBundle.components ?? []),
  ];
  return bench.upgrade(
    {
      resources: clusters(1),
      bundle: { ...sampleBundle, components: components.filter(({ type = "" }) => products.includes(type)) },
      installations: {
        netvirt: [
          { resourceId: `nsx-${id}`, name: "nsx-01", componentManagerId: "nsx-01", domain: "fra1", clusters: [] },
        ],
        management: [
          {
            resourceId: `vc-${id}`,
            name: "vc-01",
            componentManagerId: "vc01",
            clusters: [`other-${id}`],
            places: [{ domain: "fra1" }],
          },
        ],
        personalities: [],
        isos: [],
      },
      ...(mgmt && { inputs: { mgmtUpgradeUserInputSpecs: [mgmt] } }),
    },
    new FakeActivities(replaced, 1),
  );
}
