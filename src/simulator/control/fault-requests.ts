import * as E from "fp-ts/Either";
import { releaseNodes } from "../nsx/nsx-timeline";
import { decodeFaultRequest, endsByItself, isActive, type Fault, type FaultRequest } from "../state/fault";
import type { ClusterState, HostState } from "../state/simulator-state";
import type { World } from "../state/world";
import { repairHost } from "../timeline/apply";
import { endTasksByRestart } from "../timeline/restart";
import { repairAppliance } from "../vcsa/advance-vcsa";
import { planLateLifecycle } from "../vcsa/appliance";

interface Target {
  readonly cluster?: ClusterState;
  readonly host?: HostState;
}

const isCalled = (wanted: string) => (thing: { id: string; name: string }) =>
  thing.id === wanted || thing.name === wanted;

/** Cluster and host by id or name; a host alone says which cluster is meant. */
function findTarget(world: World, request: FaultRequest): E.Either<string[], Target> {
  const { cluster: clusterName, host: hostName } = request;
  const clusters = world.state.clusters;
  const named = clusterName === undefined ? undefined : clusters.find(isCalled(clusterName));
  if (clusterName !== undefined && !named) return E.left([`cluster: no cluster has the id or name ${clusterName}`]);
  if (hostName === undefined) return E.right(named ? { cluster: named } : {});
  for (const cluster of named ? [named] : clusters) {
    const host = cluster.hosts.find(isCalled(hostName));
    if (host) return E.right({ cluster, host });
  }
  return E.left([`host: no host ${named ? `of ${named.name} ` : ""}has the id or name ${hostName}`]);
}

function isNode(world: World, node: string): boolean {
  const groups = world.state.nsx?.managers.flatMap((manager) => manager.groups) ?? [];
  return groups.some(({ units }) => units.some(isCalled(node)));
}

/** Puts a fault into force. Those that are a single event happen now and are kept as used up. */
export function addFault(world: World, input: unknown): E.Either<string[], Fault> {
  const request = decodeFaultRequest(input);
  if (E.isLeft(request)) return request;
  const { node } = request.right;
  if (node !== undefined && !isNode(world, node)) return E.left([`node: no NETVIRT node has the id or name ${node}`]);
  const target = findTarget(world, request.right);
  if (E.isLeft(target)) return target;
  const { times, ...parameters } = request.right;
  const { cluster, host } = target.right;
  const now = world.now();
  const isEvent = parameters.kind === "TASKS_FORGOTTEN" || parameters.kind === "SESSIONS_EXPIRED";
  const remaining = isEvent ? 0 : times;
  const fault: Fault = {
    ...parameters,
    ...(parameters.kind === "MANAGER_RESTARTS" && { seconds: parameters.seconds ?? 10 }),
    id: `fault-${world.state.global.nextFault++}`,
    createdAt: now,
    ...(cluster && { cluster: cluster.id }),
    ...(host && { host: host.id }),
    ...(remaining !== undefined && { remaining }),
  };
  if (endsByItself.has(fault.kind) && fault.seconds !== undefined) fault.until = now + fault.seconds * 1000;
  if (fault.kind === "MANAGER_RESTARTS") {
    endTasksByRestart(world, fault.id);
    planLateLifecycle(world, fault.until ?? now);
    world.sessions.expireAll();
  }
  if (fault.kind === "SESSIONS_EXPIRED") world.sessions.expireAll();
  if (fault.kind === "TASKS_FORGOTTEN")
    for (const affected of cluster ? [cluster] : world.state.clusters) {
      for (const task of [...affected.tasks, ...(affected.vim25?.tasks ?? [])]) task.forgotten = true;
      world.changed(affected);
    }
  world.state.global.faults.push(fault);
  world.changed();
  return E.right(fault);
}

/** Takes faults out of force, all of them or one; hosts that one of them kept away come back. Answers how many. */
export function removeFaults(world: World, id?: string): number {
  const { global, clusters } = world.state;
  const removed = global.faults.filter((fault) => id === undefined || fault.id === id);
  global.faults = global.faults.filter((fault) => !removed.includes(fault));
  for (const cluster of clusters)
    for (const host of cluster.hosts)
      if (removed.some((fault) => fault.id === host.lostBy)) {
        repairHost(world, cluster, host, world.now());
        world.changed(cluster);
      }
  const ids = removed.map((fault) => fault.id);
  releaseNodes(world, ids);
  repairAppliance(world, ids);
  if (removed.length > 0) world.changed();
  return removed.length;
}

/** A fault as the control API shows it. */
export function faultView(world: World, fault: Fault) {
  const { createdAt, until, ...rest } = fault;
  return {
    ...rest,
    active: isActive(fault, world.now()),
    createdAt: new Date(createdAt).toISOString(),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
  };
}
