import { effectivePolicy } from "../state/remediation-policy";
import { desiredImage, type ClusterState, type HostState } from "../state/simulator-state";
import type { World } from "../state/world";
import { applianceOf } from "../vcsa/appliance";
import { applyProgress } from "../vlcm/apply-result";

/** A host as the control API shows it. */
export function hostView({ evacuation: _, lostBy, stagedVersion, ...host }: HostState) {
  return { ...host, ...(stagedVersion !== undefined && { stagedVersion }), ...(lostBy !== undefined && { lostBy }) };
}

function clusterView(world: World, cluster: ClusterState) {
  const { id, name, management, admissionControl, dpm, policy, drafts, hosts, tasks } = cluster;
  const desired = desiredImage(cluster);
  return {
    id,
    name,
    management,
    admissionControl,
    dpm,
    policy,
    effectivePolicy: effectivePolicy(world.state.global.defaultPolicy, policy),
    ...(desired && {
      desiredImage: { version: desired.version, commit: desired.id, ...(desired.extras && { extras: desired.extras }) },
    }),
    drafts: drafts.map((draft) => ({ id: draft.id, owner: draft.owner, version: draft.version })),
    runningTasks: [...tasks, ...(cluster.vim25?.tasks ?? [])]
      .filter(({ status }) => status === "OPEN")
      .map((task) => ({
        id: task.id,
        kind: task.kind,
        forgotten: task.forgotten,
        ...(task.kind === "apply" && {
          progress: applyProgress(task, world.now()),
          hosts: (task.runs ?? []).map(({ host, status }) => ({ host, status })),
        }),
      })),
    hosts: hosts.map(hostView),
  };
}

function managementServerView(world: World) {
  const { version, staged, update, migration } = applianceOf(world);
  return { version, ...(staged && { staged }), ...(update && { update }), ...(migration && { migration }) };
}

/** Everything that a test or an operator may want to see of the simulator, without the vendor's API in between. */
export function stateView(world: World) {
  return {
    now: new Date(world.now()).toISOString(),
    hostSeconds: world.hostMilliseconds() / 1000,
    sessions: world.sessions.size,
    defaultPolicy: world.state.global.defaultPolicy,
    managementServer: managementServerView(world),
    clusters: world.state.clusters.map((cluster) => clusterView(world, cluster)),
    nsxManagers: world.state.nsx?.managers ?? [],
  };
}
