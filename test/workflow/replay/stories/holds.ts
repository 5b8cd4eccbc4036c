import { isRight } from "fp-ts/Either";
import { closedFailure } from "../../../../activities/failures";
import { heldError, type Hold, holdWorkflowId } from "../../../../src/domain/hold";
import { temporalHolds } from "../../../../src/temporal/holds";
import { eventually } from "../../../support/eventually";
import { FakeActivities, upgraded } from "../../../support/fake-activities";
import type { RunningUpgrade } from "../../../support/running-upgrade";
import { clusters } from "../../../support/sample-plan";
import type { UpgradeBench } from "../../../support/upgrade-bench";
import { hostCount, type Story } from "../story";

const common = { clusterName: "held", reason: "Told in a story", placedBy: "operator" };
const held = { ...common, clusterId: "held-cluster", since: "2026-01-01T00:00:00.000Z" };

/** Upgrades of which a cluster or a host is held. */
export const holdStories: Readonly<Record<string, Story>> = {
  "open-while-held": { ends: "OPEN", hold: holdWorkflowId(held), tell: heldBeforeHost },

  "held-and-released": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await heldBeforeHost(bench);
      const released = await temporalHolds(bench.env.client).release(held, "operator")();
      if (!isRight(released)) throw new Error("The hold was not released");
      await upgrade.end();
      return upgrade;
    },
  },

  "one-of-two-clusters-held-before-its-begin": {
    ends: "COMPLETED",
    hold: holdWorkflowId(held),
    async tell(bench) {
      await hold(bench, { until: new Date(Date.now() + 3_000).toISOString() });
      const resources = [{ resourceId: held.clusterId }, ...clusters(1)];
      const upgrade = await bench.upgrade({ resources }, new FakeActivities({}, hostCount));
      await upgrade.end();
      return upgrade;
    },
  },

  "host-left-out-as-it-is-held": {
    ends: "COMPLETED",
    async tell(bench) {
      const why = "operator has held host esx-2: told in a story.";
      const isHeld = (host: string) => host.endsWith("2");
      const upgrade = await bench.upgrade(
        {},
        new FakeActivities(
          {
            remediateHosts: (input) => {
              const [{ host } = { host: "" }] = input.hosts;
              return Promise.resolve({
                upgraded: isHeld(host) ? [] : [upgraded({ ...input, host: input.hosts[0] ?? { host, fqdn: host } })],
                failed: [],
                stopped: [],
                ...(isHeld(host) && { held: [{ host, why }] }),
              });
            },
          },
          hostCount,
        ),
      );
      await upgrade.end();
      return upgrade;
    },
  },
};

/** Of its two hosts the first is done, and a hold of the cluster has kept the second from beginning. */
async function heldBeforeHost(bench: UpgradeBench): Promise<RunningUpgrade> {
  let isHeld = false;
  const upgrade = await bench.upgrade(
    { resources: [{ resourceId: held.clusterId }] },
    new FakeActivities(
      {
        remediateHost: async (input) => {
          const [found] = isHeld ? await bench.holds.readHolds([held]) : [];
          if (found) throw closedFailure(heldError(found));
          if (!isHeld) await hold(bench);
          isHeld = true;
          return upgraded(input);
        },
      },
      hostCount,
    ),
  );
  await eventually(
    () => upgrade.upgrade(),
    ({ phase, waitingFor }) => phase === "WAITING" && waitingFor?.code === "HELD",
  );
  return upgrade;
}

async function hold(bench: UpgradeBench, more: Partial<Hold> = {}): Promise<void> {
  const placed = await temporalHolds(bench.env.client).put({ ...held, ...more }, { replaces: false })();
  if (!isRight(placed)) throw new Error("It was not held");
}
