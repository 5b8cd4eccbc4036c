import { setTimeout } from "node:timers/promises";
import pLimit from "p-limit";
import { until } from "../../test/support/service/deployment";
import type { FixtureBenchmark } from "../benchmark";
import { startLongUpgrades, terminateUpgrades } from "../upgrades";
import type { Fixture } from "../fixture";

/** Clusters that are described together, and the pause where one of them is not back: the server is busy with the restart. */
const [atOnce, pause] = [50, 2000];

/** A worker that is killed while many clusters are being upgraded: until each of them heartbeats again. */
export const restart: FixtureBenchmark = {
  name: "restart",
  slow: true,
  fleet: ({ quick }) => ({ clusters: quick ? 100 : 1000, hosts: 2 }),
  measure: async (fixture) => {
    const { clusters } = fixture.fleet;
    await startLongUpgrades(fixture, clusters, 20);
    const running = await workflowsOf(fixture);
    const killed = Date.now();
    await fixture.service.killAndAwaitSuccessor("worker");
    let waiting = running;
    await until(
      "all clusters heartbeat again",
      async () => {
        const limit = pLimit(4);
        const looks = waiting
          .slice(0, atOnce)
          .map((id) => limit(async () => ((await lastHeartbeat(fixture, id)) > killed ? [] : [id])));
        const silent = (await Promise.all(looks)).flat();
        waiting = [...waiting.slice(atOnce), ...silent];
        if (silent.length > 0) await setTimeout(pause);
        return waiting.length === 0;
      },
      600,
    );
    const seconds = (Date.now() - killed) / 1000;
    await terminateUpgrades(fixture);
    return [
      {
        id: "restart",
        title: `Worker killed with ${running.length} running clusters: until all heartbeat again`,
        value: seconds,
        unit: "s",
        judged: "value",
        target: { atMost: 60 },
      },
    ];
  },
};

async function workflowsOf({ temporal }: Fixture): Promise<string[]> {
  const ids: string[] = [];
  const query = "WorkflowType = 'clusterUpgradeWorkflow' AND ExecutionStatus = 'Running'";
  for await (const { workflowId } of temporal.workflow.list({ query })) ids.push(workflowId);
  return ids;
}

/** Epoch milliseconds of the last heartbeat of a Workflow's Activities; 0 where there is none. */
async function lastHeartbeat({ temporal }: Fixture, workflowId: string): Promise<number> {
  const { raw } = await temporal.workflow.getHandle(workflowId).describe();
  const times = (raw.pendingActivities ?? []).map(({ lastHeartbeatTime: time }) =>
    time ? Number(time.seconds) * 1000 + Math.floor((time.nanos ?? 0) / 1e6) : 0,
  );
  return Math.max(0, ...times);
}
