import pLimit from "p-limit";
import { until } from "../test/support/service/deployment";
import type { Fixture } from "./fixture";
import { upgradeRequest } from "./fleet";

/** Most clusters in one request (docs/spec-gaps.md). */
const clustersPerRequest = 250;

/** How often to check whether an upgrade has failed, in milliseconds; seldom enough to disturb nothing. */
const failurePoll = 2000;

/** Runs an upgrade of clusters, by default of the first ones, to its end, and returns its id. Throws where it does not succeed. */
export async function runUpgrade(fixture: Fixture, clusters: number, first = 0): Promise<string> {
  const { id } = await fixture.service.startUpgrade(upgradeRequest(first, clusters));
  await untilSucceeded(fixture, id);
  return id;
}

/** Resolves when an upgrade has succeeded. Throws where it has not. */
export async function untilSucceeded({ temporal }: Pick<Fixture, "temporal">, id: string): Promise<void> {
  const query = `WorkflowId = '${id}' AND TaskStatus = 'Failed'`;
  // One that has failed stays open for a week, and its result does not come.
  let reject: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, rejectIt) => (reject = rejectIt));
  const poll = setInterval(() => {
    void temporal.workflow.count(query).then(({ count }) => {
      if (count > 0) reject(new Error(`Upgrade ${id} has failed`));
    }, reject);
  }, failurePoll);
  try {
    await Promise.race([temporal.workflow.getHandle(id).result(), failed]);
  } finally {
    clearInterval(poll);
  }
}

/**
 * Upgrades so many clusters whose hosts then take 50 minutes, and resolves when a remediation of each runs; returns the ids of
 * the upgrades. What ran before is terminated first.
 */
export async function startLongUpgrades(fixture: Fixture, clusters: number, minutes = 10): Promise<readonly string[]> {
  await terminateUpgrades(fixture);
  await fixture.simulator.setHostDuration(50 * 60);
  const ids: string[] = [];
  for (let first = 0; first < clusters; first += clustersPerRequest) {
    const request = upgradeRequest(first, Math.min(clustersPerRequest, clusters - first));
    ids.push((await fixture.service.startUpgrade(request)).id);
  }
  await until(
    `the hosts of ${clusters} clusters are being remediated`,
    async () => (await countClustersInWork(fixture)) === clusters,
    minutes * 60,
  );
  await fixture.untilSteady();
  return ids;
}

/** 0 where the simulator does not answer now: thousands of hosts that begin at once keep it busy for longer than a client waits. */
async function countClustersInWork({ simulator }: Fixture): Promise<number> {
  const requested = await simulator.ledger("APPLY_REQUESTED").catch(() => []);
  return new Set(requested.map(({ cluster }) => cluster)).size;
}

/** Terminates every upgrade and makes the clusters as they were. */
export async function terminateUpgrades(fixture: Fixture): Promise<void> {
  const { temporal } = fixture;
  const limit = pLimit(16);
  let terminated = 0;
  // Visibility is a moment behind, so it is asked again.
  await until(
    "no upgrade runs",
    async () => {
      const running: string[] = [];
      for await (const { workflowId } of temporal.workflow.list({ query: "ExecutionStatus = 'Running'" }))
        running.push(workflowId);
      // Children of an upgrade that was terminated before them have ended with it.
      const terminate = (id: string) =>
        temporal.workflow
          .getHandle(id)
          .terminate()
          .catch(() => undefined);
      await Promise.all(running.map((id) => limit(() => terminate(id))));
      terminated += running.length;
      return running.length === 0;
    },
    600,
  );
  await fixture.simulator.reset();
  if (terminated > 0) await fixture.untilIdle();
}
