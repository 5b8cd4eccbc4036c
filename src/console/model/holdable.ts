import type { Hold, HoldTarget } from "../../domain/hold";
import type { SubTask, Task } from "../../domain/spec/task";

/** A cluster of an upgrade, with those of its hosts whose turn has not come. */
export interface HoldableCluster {
  readonly id: string;
  readonly name: string;
  readonly hosts: readonly { readonly id: string; readonly name: string }[];
}

/** Something that can be held, and what it is called. */
export interface Holdable {
  readonly target: HoldTarget;
  readonly name: string;
}

/** The clusters of an upgrade. */
export function holdableClusters({ subTasks = [] }: Task): HoldableCluster[] {
  return subTasks
    .flatMap((product) => product.subTasks ?? [])
    .flatMap((part) => {
      const { resourceId, name = part.name } = part.resources?.[0] ?? {};
      if (part.type !== "CLUSTER_UPGRADE" || resourceId === undefined) return [];
      return [{ id: resourceId, name, hosts: (part.subTasks ?? []).flatMap(waitingHost) }];
    });
}

function waitingHost({ name, status, resources }: SubTask): { id: string; name: string }[] {
  const id = resources?.[0]?.resourceId;
  return id === undefined || (status !== "PENDING" && status !== "IN_PROGRESS") ? [] : [{ id, name }];
}

/** Clusters and hosts that are not held yet, each cluster before its hosts. */
export function canHold(clusters: readonly HoldableCluster[], holds: readonly Hold[]): Holdable[] {
  const all = clusters.flatMap(({ id: clusterId, name, hosts }): Holdable[] => [
    { target: { clusterId }, name: `cluster ${name}` },
    ...hosts.map((host) => ({ target: { clusterId, hostId: host.id }, name: `host ${host.name}` })),
  ]);
  const held = new Set(holds.map(holdPath));
  return all.filter(({ target }) => !held.has(holdPath(target)));
}

/** What a hold is of. */
export function holdName({ clusterName, hostId, hostName = hostId }: Hold): string {
  return hostName === undefined ? `cluster ${clusterName}` : `host ${hostName}`;
}

/** The path of the hold of a cluster or a host. */
export function holdPath({ clusterId, hostId }: HoldTarget): string {
  const cluster = `/v1/clusters/${encodeURIComponent(clusterId)}`;
  return hostId === undefined ? `${cluster}/hold` : `${cluster}/hosts/${encodeURIComponent(hostId)}/hold`;
}
