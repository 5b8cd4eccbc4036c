import { randomUUID } from "node:crypto";
import pLimit from "p-limit";
import { Pool } from "undici";
import type { Fixture } from "../fixture";
import { simulatedCluster, targetVersion } from "../fleet";
import type { ReferencePlan } from "./activities";
import { ComponentManager } from "./component-manager";
import { referenceQueue } from "./reference-worker";
import type { bareUpgrade } from "./workflows";

/** Brings the desired image of the first clusters to the target, which is not measured, and plans their bare upgrade. */
export async function planBareUpgrade({ simulator }: Fixture, clusters: number): Promise<ReferencePlan> {
  const pool = new Pool(simulator.url);
  try {
    const login = await ComponentManager.logIn(pool);
    const manager = new ComponentManager(pool, login);
    const limit = pLimit(4);
    const prepare = async (cluster: string) => ({
      cluster,
      commit: await manager.setDesiredImage(cluster, targetVersion),
      hosts: await manager.listHosts(cluster),
    });
    const ids = Array.from({ length: clusters }, (_, index) => simulatedCluster(index));
    return { login, clusters: await Promise.all(ids.map((cluster) => limit(() => prepare(cluster)))) };
  } finally {
    await pool.close();
  }
}

/** Runs a bare upgrade to its end; returns its id and the calls that it has made. */
export async function runBareUpgrade({ temporal }: Fixture, plan: ReferencePlan) {
  const id = randomUUID();
  const calls = await temporal.workflow.execute<typeof bareUpgrade>("bareUpgrade", {
    workflowId: id,
    taskQueue: referenceQueue,
    args: [plan],
  });
  return { id, calls };
}
