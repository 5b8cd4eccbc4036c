import type { SimulatorContext } from "../state/context";
import type { EvacuationBlocker } from "../state/fault";
import { type Image, livePatchObstacle } from "../state/image-extras";
import { type EffectivePolicy, enforcesHardwareCompatibility, livePatchMode } from "../state/remediation-policy";
import type { ClusterState, HostState } from "../state/simulator-state";
import { evacuationObstacle } from "./evacuation";
import { imageRefusal } from "./scan";

const blockers: Record<EvacuationBlocker, string> = {
  ADMISSION_CONTROL: "HA admission control leaves too little capacity for the VMs to move",
  DPM: "DPM keeps hosts of the cluster in standby, so the VMs cannot move",
  RUNNING_VMS: "a VM with a connected CD-ROM or a local disk cannot move",
};

function isBlocked(by: EvacuationBlocker, cluster: ClusterState, host: HostState, policy: EffectivePolicy): boolean {
  if (by === "ADMISSION_CONTROL") return cluster.admissionControl;
  if (by === "DPM") return cluster.dpm;
  return policy.pre_remediation_power_action === "DO_NOT_CHANGE_VMS_POWER_STATE" && host.poweredOnVms > 0;
}

/**
 * Why a host cannot enter maintenance mode now, or undefined where it can. The same for a remediation and for whoever
 * puts a host into maintenance mode by hand.
 */
export function maintenanceObstacle(
  context: SimulatorContext,
  cluster: ClusterState,
  host: HostState,
  policy: EffectivePolicy,
): string | undefined {
  const on = { cluster: cluster.id, host: host.id };
  const others = cluster.hosts.filter(({ id, maintenance }) => id !== host.id && maintenance !== "OUT").length;
  if (others > 0 && context.findFault(["VSAN_ONE_AT_A_TIME"], on))
    return `Another host of cluster ${cluster.name} is in maintenance mode, and vSAN allows one at a time.`;

  const crowded = context.findFault(["EVACUATION_IMPOSSIBLE"], on);
  const vmsMove = policy.pre_remediation_power_action === "DO_NOT_CHANGE_VMS_POWER_STATE" && host.poweredOnVms > 0;
  if (crowded && vmsMove && others >= (crowded.others ?? 1)) {
    context.useFault(crowded);
    return crowded.message ?? `The other hosts have not enough unreserved memory for the running VMs of ${host.name}.`;
  }

  const blocked = context.findFault(["EVACUATION_BLOCKED"], on);
  const by = blocked?.by ?? "RUNNING_VMS";
  if (blocked && isBlocked(by, cluster, host, policy)) {
    context.useFault(blocked);
    return blocked.message ?? `Host ${host.name} could not enter maintenance mode: ${blockers[by]}.`;
  }
  return evacuationObstacle(cluster, host, policy);
}

/** What a check warns of, because it would keep the VMs on the host under the policy as it is now. */
export function evacuationRisk(
  context: SimulatorContext,
  cluster: ClusterState,
  host: HostState,
  policy: EffectivePolicy,
): string | undefined {
  const fault = context.findFault(["EVACUATION_BLOCKED"], { cluster: cluster.id, host: host.id });
  const by = fault?.by ?? "RUNNING_VMS";
  const isSolved =
    (by === "ADMISSION_CONTROL" && policy.disable_hac) ||
    (by === "DPM" && policy.disable_dpm) ||
    !isBlocked(by, cluster, host, policy);
  return fault && !isSolved ? `Host ${host.name} may not enter maintenance mode: ${blockers[by]}.` : undefined;
}

/** Why a remediation of a host cannot even begin, or undefined where it can; nothing of the host is touched then. */
export function remediationObstacle(
  context: SimulatorContext,
  cluster: ClusterState,
  host: HostState,
  image: Image,
  policy: EffectivePolicy,
): string | undefined {
  if (host.connection !== "CONNECTED") return `Host ${host.name} is not connected.`;
  const on = { cluster: cluster.id, host: host.id };
  const refused = context.findFault(["IMAGE_REFUSED"], on);
  if (refused) return imageRefusal(refused.message, host);
  const incompatible = enforcesHardwareCompatibility(policy) && hardwareProblem(context, cluster, host);
  if (incompatible) return incompatible;
  const obstacle = livePatchMode(policy) === "ENFORCE" ? livePatchObstacle(context.config, host, image) : undefined;
  return obstacle && `Host ${host.name} cannot be remediated without a reboot, which the policy demands: ${obstacle}`;
}

/** What of a host is not on the hardware compatibility list; undefined where all is. */
export function hardwareProblem(context: SimulatorContext, cluster: ClusterState, host: HostState): string | undefined {
  const fault = context.findFault(["HARDWARE_INCOMPATIBLE"], { cluster: cluster.id, host: host.id });
  return (
    fault && (fault.message ?? `A storage controller of host ${host.name} is not on the hardware compatibility list.`)
  );
}

/** Whether the image is applied to a host while it runs. */
export function isPatchedLive(
  context: SimulatorContext,
  host: HostState,
  image: Image,
  policy: EffectivePolicy,
): boolean {
  return livePatchMode(policy) !== "DISABLE" && livePatchObstacle(context.config, host, image) === undefined;
}
