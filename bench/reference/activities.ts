import { Pool } from "undici";
import { ComponentManager, type Login } from "./component-manager";

/** What the reference is started with: clusters that have the desired image already. */
export interface ReferencePlan {
  readonly login: Login;
  readonly clusters: readonly ReferenceCluster[];
}

/** A cluster by the ids of the component manager; `commit` is that of its desired image. */
export interface ReferenceCluster {
  readonly cluster: string;
  readonly commit: string;
  readonly hosts: readonly string[];
}

interface ReferenceHost {
  readonly login: Login;
  readonly cluster: string;
  readonly commit: string;
  readonly host: string;
}

/** Activities of the reference. */
export interface ReferenceActivities {
  /** Upgrades one host and returns how many calls that took. Throws where the host is not at the target then. */
  upgradeHost(host: ReferenceHost): Promise<number>;
}

/**
 * Upgrades a host by the calls that the service makes for one that goes well: is the cluster healthy, does anything run, is the
 * host connected and not at the target; remediate, follow the task; is it back and at the target.
 */
export function createReferenceActivities(managerUrl: string): ReferenceActivities {
  const pool = new Pool(managerUrl);
  return {
    upgradeHost: async ({ login, cluster, commit, host }) => {
      const manager = new ComponentManager(pool, login);
      await Promise.all([manager.listHosts(cluster), manager.readMaintenance(cluster)]);
      await manager.check(cluster);
      await manager.listUnfinishedTasks();
      await manager.listHosts(cluster);
      await manager.readCompliance(cluster);
      await manager.readDesiredImage(cluster);
      await manager.readLastResult(cluster);
      await manager.remediate(cluster, host, commit);
      await manager.listHosts(cluster);
      const { hosts } = await manager.readCompliance(cluster);
      if (hosts[host]?.status !== "COMPLIANT") throw new Error(`${host} is ${hosts[host]?.status ?? "unknown"}`);
      return manager.calls;
    },
  };
}
