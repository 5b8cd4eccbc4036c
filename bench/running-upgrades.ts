import pLimit from "p-limit";
import { until } from "../test/system/deployment";
import { specOf } from "./fleet";
import type { Stage } from "./stage";

/** Most clusters in one request (docs/spec-gaps.md). */
const clustersPerRequest = 250;

/**
 * Upgrades so many clusters whose hosts then take 50 minutes, and resolves when a remediation of each runs; gives the ids of the
 * upgrades. What ran before is ended first.
 */
export async function startedUpgrades(stage: Stage, clusters: number, minutes = 10): Promise<readonly string[]> {
  await endUpgrades(stage);
  await stage.simulator.makeHostsSlow();
  const ids: string[] = [];
  for (let first = 0; first < clusters; first += clustersPerRequest) {
    const { id } = await stage.service.startUpgrade(specOf(first, Math.min(clustersPerRequest, clusters - first)));
    ids.push(id);
  }
  await until(
    `the hosts of ${clusters} clusters are being remediated`,
    async () => (await clustersInWork(stage)) === clusters,
    minutes * 60,
  );
  await stage.untilSteady();
  return ids;
}

/** 0 where the simulator does not answer now: thousands of hosts that begin at once keep it busy for longer than a client waits. */
async function clustersInWork({ simulator }: Stage): Promise<number> {
  const requested = await simulator.ledger("APPLY_REQUESTED").catch(() => []);
  return new Set(requested.map(({ cluster }) => cluster)).size;
}

/** Ends every upgrade at once and makes the clusters as they were. */
export async function endUpgrades(stage: Stage): Promise<void> {
  const { temporal } = stage;
  const limit = pLimit(16);
  let ended = 0;
  // Visibility comes a moment after what it shows, so it is asked again.
  await until(
    "no upgrade runs",
    async () => {
      const running: string[] = [];
      for await (const { workflowId } of temporal.workflow.list({ query: "ExecutionStatus = 'Running'" }))
        running.push(workflowId);
      // Children of an upgrade that was ended before them have ended with it.
      const end = (id: string) =>
        temporal.workflow
          .getHandle(id)
          .terminate()
          .catch(() => undefined);
      await Promise.all(running.map((id) => limit(() => end(id))));
      ended += running.length;
      return running.length === 0;
    },
    600,
  );
  await stage.simulator.reset();
  if (ended > 0) await stage.untilIdle();
}
