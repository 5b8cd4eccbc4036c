import { randomUUID } from "node:crypto";
import type { SimulatorContext } from "../state/context";
import type { LedgerStep } from "../state/ledger-entry";
import { effectivePolicy, type EffectivePolicy } from "../state/remediation-policy";
import type { ClusterState, HostState } from "../state/simulator-state";
import { bringBack, evacuate } from "../timeline/evacuation";
import type { Vim25Event, Vim25Task } from "./vim25-state";
import { moveAway, moveBack, recount, vim25HostOf, vim25Of, vmsOf } from "./virtual-machines";

/** How long the component manager remembers a task after its end, in milliseconds. */
const remembered = 10 * 60_000;

type NewTask = Pick<Vim25Task, "kind" | "entity" | "entityName" | "user" | "dueAt" | "events"> &
  Partial<Pick<Vim25Task, "version" | "evacuatePoweredOffVms" | "settings">>;

/** Opens a task of a cluster; what it does happens at its events. */
export function openTask(context: SimulatorContext, cluster: ClusterState, task: NewTask): Vim25Task {
  const now = context.now();
  const opened: Vim25Task = {
    id: `task-${randomUUID().slice(0, 8)}`,
    status: "OPEN",
    queuedAt: now,
    forgotten: false,
    ...task,
  };
  const state = vim25Of(cluster);
  const isOver = ({ endedAt, events }: Vim25Task) =>
    endedAt !== undefined && events.length === 0 && now - endedAt > remembered;
  const over = new Set(state.tasks.filter(isOver));
  state.tasks = [...state.tasks.filter((known) => !over.has(known)), opened];
  context.hostIndex.tasksChanged(
    cluster,
    opened.id,
    [...over].map(({ id }) => id),
  );
  context.changed(cluster);
  return opened;
}

/** A task with the cluster that it belongs to; undefined where the component manager does not know it (any more). */
export function findTask(
  context: SimulatorContext,
  id: string,
): { cluster: ClusterState; task: Vim25Task } | undefined {
  const cluster = context.hostIndex.clusterOfTask(id);
  const task = cluster?.vim25?.tasks.find((known) => known.id === id && !known.forgotten);
  return cluster && task && { cluster, task };
}

/** Tasks of one entity that the component manager still knows. */
export function tasksOf(cluster: ClusterState, entity: string): readonly Vim25Task[] {
  return (cluster.vim25?.tasks ?? []).filter((task) => task.entity === entity && !task.forgotten);
}

/** Whether something is under way on a host, also if the component manager has forgotten its task. */
export function isBusy(cluster: ClusterState, host: string): boolean {
  return (cluster.vim25?.tasks ?? []).some(
    ({ entity, kind, status, events }) =>
      entity === host && kind !== "host.PatchManager.Check" && (status === "OPEN" || events.length > 0),
  );
}

/** Lets one event of a task happen. */
export function happenToTask(
  context: SimulatorContext,
  cluster: ClusterState,
  task: Vim25Task,
  event: Vim25Event,
): void {
  const host = cluster.hosts.find(({ id }) => id === task.entity);
  const vmHost = vmsOf(cluster).find(({ id }) => id === task.entity)?.host;
  const record = (step: LedgerStep, detail?: string) =>
    context.record({
      at: event.at,
      cluster: cluster.id,
      step,
      task: task.id,
      ...(vmHost !== undefined && { host: vmHost }),
      ...(host && { host: host.id, attempt: host.applies }),
      ...(detail !== undefined && { detail }),
    });
  switch (event.kind) {
    case "SUCCEEDS":
      task.status = "SUCCESS";
      task.endedAt = event.at;
      return succeed(context, cluster, task, host, record);
    case "FAILS":
      task.status = "ERROR";
      task.endedAt = event.at;
      if (event.failure) task.error = event.failure;
      if (host?.maintenance === "ENTERING") host.maintenance = "OUT";
      if (host && task.kind !== "host.PatchManager.Check") record("APPLY_FAILED", event.failure?.message);
      return;
    case "HOST_DOWN":
      if (!host) return;
      host.connection = "NOT_RESPONDING";
      if (event.fault !== undefined) host.lostBy = event.fault;
      return;
    case "HOST_BACK":
      if (host) host.connection = "CONNECTED";
      return;
    case "HOST_UP": {
      if (!host) return;
      const known = vim25HostOf(cluster, host.id);
      host.connection = "CONNECTED";
      known.bootTime = event.at;
      if (known.installed !== undefined) host.version = known.installed;
      delete known.installed;
      return record("REBOOTED", "full boot");
    }
  }
}

/** A policy by which running VMs move, and powered-off ones where asked: what maintenance mode does by itself. */
export function movingPolicy(context: SimulatorContext, evacuatePoweredOffVms: boolean): EffectivePolicy {
  return {
    ...effectivePolicy(context.state.global.defaultPolicy, undefined),
    pre_remediation_power_action: "DO_NOT_CHANGE_VMS_POWER_STATE",
    evacuate_offline_vms: evacuatePoweredOffVms,
  };
}

function succeed(
  context: SimulatorContext,
  cluster: ClusterState,
  task: Vim25Task,
  host: HostState | undefined,
  record: (step: LedgerStep, detail?: string) => void,
): void {
  switch (task.kind) {
    case "HostSystem.enterMaintenanceMode":
      if (!host) return;
      if (cluster.management === "IMAGE")
        evacuate(cluster, host, movingPolicy(context, task.evacuatePoweredOffVms ?? false));
      else moveAway(cluster, host, task.evacuatePoweredOffVms ?? false);
      host.maintenance = "IN";
      return record("MAINTENANCE_ENTERED", task.evacuatePoweredOffVms ? "with offline VMs" : undefined);
    case "HostSystem.exitMaintenanceMode":
      if (!host) return;
      host.maintenance = "OUT";
      delete vim25HostOf(cluster, host.id).slowness;
      if (cluster.management === "IMAGE") bringBack(cluster, host);
      else moveBack(cluster, host);
      return record("MAINTENANCE_EXITED");
    case "host.PatchManager.InstallV2":
      if (!host || task.version === undefined) return;
      if (task.version !== host.version) vim25HostOf(cluster, host.id).installed = task.version;
      return record("REMEDIATED", task.version);
    case "VirtualMachine.powerOn":
    case "VirtualMachine.powerOff":
    case "VirtualMachine.suspend": {
      const vm = vmsOf(cluster).find(({ id }) => id === task.entity);
      if (!vm) return;
      vm.power = powerAfter[task.kind];
      delete vm.was;
      recount(cluster);
      return record("VM_POWER_CHANGED", `${vm.id} ${vm.power}`);
    }
    case "ComputeResource.reconfigureEx":
      return reconfigure(cluster, task, record);
    case "HostSystem.reboot":
    case "host.PatchManager.Check":
      return;
  }
}

/** The power of a virtual machine after each task. */
export const powerAfter = {
  "VirtualMachine.powerOn": "poweredOn",
  "VirtualMachine.powerOff": "poweredOff",
  "VirtualMachine.suspend": "suspended",
} as const;

function reconfigure(
  cluster: ClusterState,
  { settings = {} }: Vim25Task,
  record: (step: LedgerStep, detail?: string) => void,
): void {
  const { admissionControl, dpm, drsEnabled, drsAutomation } = settings;
  const before = { admissionControl: cluster.admissionControl, dpm: cluster.dpm, drs: cluster.drsEnabled };
  const after = {
    admissionControl: admissionControl ?? before.admissionControl,
    dpm: dpm ?? before.dpm,
    drs: drsEnabled ?? before.drs,
  };
  cluster.admissionControl = after.admissionControl;
  cluster.dpm = after.dpm;
  cluster.drsEnabled = after.drs;
  if (drsAutomation !== undefined) vim25Of(cluster).drsAutomation = drsAutomation;
  const names = ["admissionControl", "dpm", "drs"] as const;
  const switchedOff = names.filter((name) => before[name] && !after[name]);
  const switchedOn = names.filter((name) => !before[name] && after[name]);
  if (switchedOff.length > 0) record("SETTINGS_SWITCHED_OFF", switchedOff.join(", "));
  if (switchedOn.length > 0) record("SETTINGS_RESTORED", switchedOn.join(", "));
}
