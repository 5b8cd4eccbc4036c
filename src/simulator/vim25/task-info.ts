import type { SimulatorContext } from "../state/context";
import { type ClusterState, desiredImage } from "../state/simulator-state";
import { isCancelable } from "./operations";
import { localizedFault } from "./soap";
import { boolean, integer, list, moment, name, object, reference, text, type Value } from "./values";
import type { Vim25Task, Vim25TaskKind } from "./vim25-state";

const states = { OPEN: "running", SUCCESS: "success", ERROR: "error" } as const;

/** The method that a task was begun by, as tasks name it. */
const methodNames: Readonly<Record<Vim25TaskKind, string>> = {
  "HostSystem.enterMaintenanceMode": "EnterMaintenanceMode_Task",
  "HostSystem.exitMaintenanceMode": "ExitMaintenanceMode_Task",
  "HostSystem.reboot": "RebootHost_Task",
  "host.PatchManager.Check": "CheckHostPatch_Task",
  "host.PatchManager.InstallV2": "InstallHostPatchV2_Task",
  "VirtualMachine.powerOn": "PowerOnVM_Task",
  "VirtualMachine.powerOff": "PowerOffVM_Task",
  "VirtualMachine.suspend": "SuspendVM_Task",
  "ComputeResource.reconfigureEx": "ReconfigureComputeResource_Task",
};

/** A task as the management interface shows it now. */
export function taskInfo(context: SimulatorContext, cluster: ClusterState, task: Vim25Task): Value {
  const { id, kind, status, queuedAt, dueAt, endedAt, error, user } = task;
  const [owner = ""] = kind.split(".");
  const entityType =
    owner === "VirtualMachine" || owner === "HostSystem"
      ? owner
      : owner === "host"
        ? "HostSystem"
        : "ClusterComputeResource";
  const elapsed = dueAt > queuedAt ? (100 * (context.now() - queuedAt)) / (dueAt - queuedAt) : 99;
  // What hangs stays where the product leaves it: at the first of its steps.
  const percent = task.events.length === 0 ? Math.min(elapsed, 2) : Math.min(elapsed, 99);
  return object("TaskInfo", {
    key: text(id),
    task: reference("Task", id),
    name: text(methodNames[kind]),
    descriptionId: text(kind),
    entity: reference(entityType, task.entity),
    entityName: text(task.entityName),
    state: name("TaskInfoState", states[status]),
    cancelled: boolean(task.cancelled ?? false),
    cancelable: boolean(isCancelable(task)),
    error: error && localizedFault(error),
    result: status === "SUCCESS" && kind.startsWith("host.PatchManager") ? patchResult(cluster, task) : undefined,
    progress: status === "OPEN" ? integer(percent) : undefined,
    reason: object("TaskReasonUser", { userName: text(user) }),
    queueTime: moment(queuedAt),
    startTime: moment(queuedAt),
    completeTime: endedAt === undefined ? undefined : moment(endedAt),
    eventChainId: integer(1),
  });
}

function patchResult(cluster: ClusterState, { version = desiredImage(cluster)?.version ?? "" }: Vim25Task): Value {
  return object("HostPatchManagerResult", {
    version: text("1.0"),
    status: list("HostPatchManagerStatus", [
      object("HostPatchManagerStatus", {
        id: text(version),
        applicable: boolean(true),
        restartRequired: boolean(true),
      }),
    ]),
  });
}
