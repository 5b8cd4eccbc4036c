import type { ClusterState, HostState } from "./simulator-state";

/** A host with the cluster that it belongs to. */
export interface KnownHost {
  readonly cluster: ClusterState;
  readonly host: HostState;
}

/**
 * Which cluster holds what, by id: most calls name a host or a task, and with thousands of them a look through all
 * clusters would be most of the work. Clusters stay the same as long as the state does.
 */
export class Whereabouts {
  private readonly clusters = new Map<string, ClusterState>();
  private readonly hosts = new Map<string, KnownHost>();
  private readonly tasks = new Map<string, ClusterState>();

  constructor(clusters: readonly ClusterState[]) {
    for (const cluster of clusters) {
      // Of several of the same id the first is meant.
      if (!this.clusters.has(cluster.id)) this.clusters.set(cluster.id, cluster);
      for (const host of cluster.hosts) if (!this.hosts.has(host.id)) this.hosts.set(host.id, { cluster, host });
      for (const { id } of [...cluster.tasks, ...(cluster.vim25?.tasks ?? [])]) this.tasks.set(id, cluster);
    }
  }

  cluster(id: string): ClusterState | undefined {
    return this.clusters.get(id);
  }

  host(id: string): KnownHost | undefined {
    return this.hosts.get(id);
  }

  hostJoined(cluster: ClusterState, host: HostState): void {
    this.hosts.set(host.id, { cluster, host });
  }

  hostLeft(host: HostState): void {
    this.hosts.delete(host.id);
  }

  /** The cluster that a task of whichever API was opened on; the task itself may be forgotten or long gone. */
  clusterOfTask(id: string): ClusterState | undefined {
    return this.tasks.get(id);
  }

  /** Notes which tasks a cluster has from now on, and which no longer. */
  tasksChanged(cluster: ClusterState, opened: string, dropped: Iterable<string>): void {
    this.tasks.set(opened, cluster);
    for (const id of dropped) this.tasks.delete(id);
  }
}
