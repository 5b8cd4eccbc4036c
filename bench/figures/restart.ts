import { setTimeout } from "node:timers/promises";
import pLimit from "p-limit";
import { until } from "../../test/system/deployment";
import type { StagedExperiment } from "../experiment";
import { endUpgrades, startedUpgrades } from "../running-upgrades";
import type { Stage } from "../stage";

/** Clusters that are looked at together, and the pause where one of them has not been back; the server has the restart to work on. */
const [atOnce, pause] = [50, 2000];

/** A worker that is killed while many clusters are being upgraded: until each of them gives a sign of life again. */
export const restart: StagedExperiment = {
  name: "restart",
  slow: true,
  needs: ({ quick }) => ({ clusters: quick ? 100 : 1000, hosts: 2 }),
  run: async (stage) => {
    const { clusters } = stage.fleet;
    await startedUpgrades(stage, clusters, 20);
    const running = await workflowsOf(stage);
    const killed = Date.now();
    await stage.service.killAndAwaitSuccessor("worker");
    let waiting = running;
    await until(
      "all clusters heartbeat again",
      async () => {
        const limit = pLimit(4);
        const looks = waiting
          .slice(0, atOnce)
          .map((id) => limit(async () => ((await lastHeartbeat(stage, id)) > killed ? [] : [id])));
        const silent = (await Promise.all(looks)).flat();
        waiting = [...waiting.slice(atOnce), ...silent];
        if (silent.length > 0) await setTimeout(pause);
        return waiting.length === 0;
      },
      600,
    );
    const seconds = (Date.now() - killed) / 1000;
    await endUpgrades(stage);
    return [
      {
        id: "restart",
        figure: `Worker killed with ${running.length} running clusters: until all heartbeat again`,
        value: seconds,
        unit: "s",
        judged: "value",
        target: { atMost: 60 },
      },
    ];
  },
};

async function workflowsOf({ temporal }: Stage): Promise<string[]> {
  const ids: string[] = [];
  const query = "WorkflowType = 'clusterUpgradeWorkflow' AND ExecutionStatus = 'Running'";
  for await (const { workflowId } of temporal.workflow.list({ query })) ids.push(workflowId);
  return ids;
}

/** Epoch milliseconds of the last sign of life of a Workflow's Activities; 0 where there is none. */
async function lastHeartbeat({ temporal }: Stage, workflowId: string): Promise<number> {
  const { raw } = await temporal.workflow.getHandle(workflowId).describe();
  const times = (raw.pendingActivities ?? []).map(({ lastHeartbeatTime: time }) =>
    time ? Number(time.seconds) * 1000 + Math.floor((time.nanos ?? 0) / 1e6) : 0,
  );
  return Math.max(0, ...times);
}
