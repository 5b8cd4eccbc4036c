import type { SimulatorContext } from "../state/context";
import type { ClusterState, HostState } from "../state/simulator-state";
import { recount } from "../vim25/virtual-machines";
import { leaveApply } from "./apply";
import { rescanHost } from "./scan";

/** A host as somebody adds it; its version is the one that all hosts have at the start unless it is given. */
export interface JoiningHost {
  readonly name: string;
  readonly version?: string;
}

/** The number that the next host gets; ids of hosts that have left are not given again. */
function takeNumber(context: SimulatorContext): number {
  const { global, clusters } = context.state;
  const used = clusters.flatMap(({ hosts }) => hosts.map(({ id }) => Number(id.replace(/\D/g, ""))));
  const number = global.nextHost ?? Math.max(0, ...used) + 1;
  global.nextHost = number + 1;
  return number;
}

/** Adds a host without virtual machines to a cluster, at once. Answers why it cannot be where it cannot. */
export function joinCluster(
  context: SimulatorContext,
  cluster: ClusterState,
  joining: JoiningHost,
): HostState | string {
  const { name, version = context.config.hostVersion } = joining;
  if (context.state.clusters.some(({ hosts }) => hosts.some((host) => host.name === name)))
    return `name: there is a host ${name} already`;
  const host: HostState = {
    id: `host-${takeNumber(context)}`,
    name,
    version,
    connection: "CONNECTED",
    power: "POWERED_ON",
    maintenance: "OUT",
    poweredOnVms: 0,
    poweredOffVms: 0,
    suspendedVms: 0,
    applies: 0,
  };
  cluster.hosts.push(host);
  context.hostIndex.hostJoined(cluster, host);
  rescanHost(context, cluster, host);
  context.record({ at: context.now(), cluster: cluster.id, host: host.id, step: "HOST_JOINED", detail: name });
  context.changed(cluster);
  return host;
}

/**
 * Takes a host out of its cluster and out of the inventory, whatever is done to it: a remediation of it fails, what the
 * management interface does on it fails too. The virtual machines that are on it go with it.
 */
export function leaveCluster(context: SimulatorContext, cluster: ClusterState, host: HostState): void {
  const at = context.now();
  // Those that have left it stay where they are.
  delete host.evacuation;
  host.maintenance = "OUT";
  const why = `Host ${host.name} was removed from cluster ${cluster.name}.`;
  for (const task of cluster.tasks) if (task.status === "OPEN") leaveApply(context, cluster, task, host, why);
  cluster.hosts = cluster.hosts.filter((other) => other !== host);
  for (const other of cluster.hosts) {
    delete other.evacuation?.running[host.id];
    delete other.evacuation?.offline[host.id];
  }
  delete cluster.lastScan?.hosts[host.id];
  if (cluster.vim25) {
    const { vim25 } = cluster;
    const gone = new Set([host.id, ...vim25.vms.filter((vm) => vm.host === host.id).map(({ id }) => id)]);
    vim25.vms = vim25.vms.filter(({ id }) => !gone.has(id));
    for (const vm of vim25.vms) if (vm.home === host.id) delete vm.home;
    const { [host.id]: _, ...others } = vim25.hosts;
    vim25.hosts = others;
    for (const task of vim25.tasks) {
      if (!gone.has(task.entity)) continue;
      task.events = [];
      if (task.status !== "OPEN") continue;
      task.status = "ERROR";
      task.endedAt = at;
      task.error = { type: "ManagedObjectNotFound", message: why, fields: { obj: task.entity } };
    }
    recount(cluster);
  }
  context.hostIndex.hostLeft(host);
  context.record({ at, cluster: cluster.id, host: host.id, step: "HOST_LEFT", detail: host.name });
  context.changed(cluster);
}
