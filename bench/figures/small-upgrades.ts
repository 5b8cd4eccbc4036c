import { randomUUID } from "node:crypto";
import type { StagedExperiment } from "../experiment";
import { untilFinished } from "../finished-upgrade";
import { specOf } from "../fleet";
import { inTurns, median, timed } from "../measure";
import { referenceQueue, withReferenceWorker } from "../reference/reference-worker";
import type { Stage } from "../stage";

/** Clusters of one upgrade, and hosts of each. */
const [clusters, hosts] = [10, 10];
/** How many upgrades go on at the same time. */
const upgradesAtOnce = 5;

/** Upgrades of ten clusters with ten hosts that take no time: one for itself, and several at the same time. */
export const smallUpgrades: StagedExperiment = {
  name: "small-upgrades",
  slow: true,
  needs: () => ({ clusters: upgradesAtOnce * clusters, hosts }),
  run: (stage, { quick }) =>
    withReferenceWorker(stage, async () => {
      // Whoever comes first loads code and opens connections.
      await upgrades(stage, upgradesAtOnce);
      await bareUpgrades(stage, upgradesAtOnce);
      const measured = (atOnce: number) =>
        inTurns(
          quick ? 4 : 8,
          () => upgrades(stage, atOnce),
          () => bareUpgrades(stage, atOnce),
        );
      const one = await measured(1);
      const several = await measured(upgradesAtOnce);
      const hostsPerSecond = (times: readonly number[]) => ((upgradesAtOnce * clusters * hosts) / median(times)) * 1000;
      return [
        {
          id: "small-upgrade",
          figure: `One upgrade of ${clusters} x ${hosts} hosts of zero duration, p50`,
          value: median(one.ours),
          reference: median(one.reference),
          unit: "ms",
          judged: "ratio",
        },
        {
          id: "small-upgrades",
          figure: `${upgradesAtOnce} such upgrades at once`,
          value: hostsPerSecond(several.ours),
          reference: hostsPerSecond(several.reference),
          unit: "hosts/s",
          judged: "ratio",
        },
      ];
    }),
};

/** Milliseconds from the first POST to the end of the last of so many upgrades. */
async function upgrades(stage: Stage, atOnce: number): Promise<number> {
  await stage.simulator.reset();
  await stage.untilIdle();
  const { milliseconds } = await timed(() => Promise.all(Array.from({ length: atOnce }, (_, i) => upgrade(stage, i))));
  return milliseconds;
}

async function upgrade(stage: Stage, index: number): Promise<void> {
  const { id } = await stage.service.startUpgrade(specOf(index * clusters, clusters));
  await untilFinished(stage, id);
}

/** The same with bare Workflows that run one no-op Activity for each host. */
async function bareUpgrades(stage: Stage, atOnce: number): Promise<number> {
  await stage.untilIdle();
  const { milliseconds } = await timed(() => Promise.all(Array.from({ length: atOnce }, () => bareUpgrade(stage))));
  return milliseconds;
}

function bareUpgrade({ temporal }: Stage): Promise<unknown> {
  return temporal.workflow.execute("parent", {
    workflowId: randomUUID(),
    taskQueue: referenceQueue,
    args: [clusters, hosts],
  });
}
