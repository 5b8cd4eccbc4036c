import type { SimulatorContext } from "../state/context";
import type { ClusterState, HostState } from "../state/simulator-state";
import { localizedFault } from "./soap";
import { integer, list, moment, object, reference, text, type Value } from "./values";
import { vmsOn } from "./virtual-machines";

/**
 * Which of these hosts could be empty at the same time, as `ClusterEnterMaintenanceMode` answers it; nothing is moved. The
 * same faults decide that keep hosts from maintenance mode, and one host must be left for the virtual machines.
 */
export function planEvacuation(context: SimulatorContext, cluster: ClusterState, hosts: readonly HostState[]): Value {
  const isUsable = ({ connection, maintenance }: HostState) => connection === "CONNECTED" && maintenance === "OUT";
  const usable = hosts.filter(isUsable);
  const runsVms = usable.some(({ poweredOnVms }) => poweredOnVms > 0);
  const obstacles: Value[] = [];
  const free: HostState[] = [];
  let room = runsVms ? cluster.hosts.filter(isUsable).length - 1 : Infinity;
  for (const host of usable) {
    const on = { cluster: cluster.id, host: host.id };
    const running = vmsOn(cluster, host).filter(({ power }) => power === "poweredOn");
    const blocked = context.findFault(["EVACUATION_BLOCKED"], on);
    const crowded = context.findFault(["EVACUATION_IMPOSSIBLE"], on);
    if (crowded) room = Math.min(room, crowded.others ?? 1);
    if (blocked && (blocked.by ?? "RUNNING_VMS") === "RUNNING_VMS" && running[0]) {
      const reason = blocked.message ?? "A connected CD-ROM or a local disk binds it to its host.";
      obstacles.push(obstacle(reason, running[0].id));
    } else if (blocked?.by === "ADMISSION_CONTROL" && cluster.admissionControl) {
      obstacles.push(obstacle("HA admission control leaves too little capacity for the VMs to move."));
    } else {
      free.push(host);
    }
  }
  if (room < free.length) obstacles.push(obstacle("The other hosts have not enough unreserved memory for the VMs."));
  return object("ClusterEnterMaintenanceResult", {
    recommendations: list(
      "ClusterRecommendation",
      free.slice(0, Math.max(0, room)).map((host, i) => recommendation(context, cluster, host, i)),
    ),
    ...(obstacles.length > 0 && {
      fault: object("ClusterDrsFaults", {
        reason: text("hostMaint"),
        faultsByVm: list("ClusterDrsFaultsFaultsByVm", obstacles),
      }),
    }),
  });
}

function obstacle(reason: string, vm?: string): Value {
  return object("ClusterDrsFaultsFaultsByVm", {
    vm: vm === undefined ? undefined : reference("VirtualMachine", vm),
    fault: list("LocalizedMethodFault", [localizedFault({ type: "CannotMoveVmWithNativeDeltaDisk", message: reason })]),
  });
}

function recommendation(context: SimulatorContext, cluster: ClusterState, host: HostState, place: number): Value {
  return object("ClusterRecommendation", {
    key: text(String(place + 1)),
    type: text("V1"),
    time: moment(context.now()),
    rating: integer(1),
    reason: text("hostMaint"),
    reasonText: text("The host is to be emptied"),
    action: list("ClusterAction", [
      object("ClusterAction", { type: text("HostMaintenanceV1"), target: reference("HostSystem", host.id) }),
    ]),
    target: reference("ClusterComputeResource", cluster.id),
  });
}
