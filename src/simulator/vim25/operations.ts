import type { SimulatorContext } from "../state/context";
import type { FaultKind } from "../state/fault";
import type { ClusterState, HostState } from "../state/simulator-state";
import { maintenanceObstacle } from "../timeline/obstacles";
import { methodFault } from "./soap";
import { isBusy, movingPolicy, openTask, powerAfter } from "./tasks";
import type { MethodFault, Vim25Event, Vim25Settings, Vim25Task, Vim25Vm } from "./vim25-state";
import { receivers, vim25HostOf, vim25Of, vmsOf } from "./virtual-machines";

/** How long each operation takes, as a share of a host's whole upgrade; a host restarts from `down` to `up`. */
const shares = {
  enter: 0.25,
  install: 0.3,
  reboot: 0.01,
  down: 0.05,
  up: 0.35,
  exit: 0.1,
  check: 0.05,
  power: 0.01,
  reconfigure: 0.02,
};

/** The managed object that an operation is about, and who asks. */
export interface OnCluster {
  readonly context: SimulatorContext;
  readonly cluster: ClusterState;
  readonly user: string;
}
export interface OnHost extends OnCluster {
  readonly host: HostState;
}

const succeeds = (at: number): Vim25Event[] => [{ at, kind: "SUCCEEDS" }];
const fails = (at: number, failure: MethodFault): Vim25Event[] => [{ at, kind: "FAILS", failure }];

/** The first fault that acts on a host; it counts as used. */
function takeFault({ context, cluster, host }: OnHost, kinds: readonly FaultKind[]) {
  const fault = context.findFault(kinds, { cluster: cluster.id, host: host.id });
  if (fault) context.useFault(fault);
  return fault;
}

/** What every change asks first. What an image brings to a host is no matter of this API: `installs` such things. */
function mayChange({ context, cluster }: OnCluster, installs = false): void {
  if (cluster.management !== "BASELINE" && installs)
    throw methodFault("NotSupported", `The simulator changes cluster ${cluster.name} through its image only.`);
  const busy = context.findFault(["OPERATION_IN_PROGRESS"], { cluster: cluster.id });
  if (!busy) return;
  context.useFault(busy);
  throw methodFault("TaskInProgress", "Another operation is in progress on the cluster.");
}

function mayChangeHost(on: OnHost, installs = false): void {
  mayChange(on, installs);
  const { cluster, host } = on;
  if (host.connection !== "CONNECTED") throw methodFault("HostNotConnected", `Host ${host.name} is not connected.`);
  if (isBusy(cluster, host.id) || isRemediated(cluster, host))
    throw methodFault("TaskInProgress", `Another task is in progress on ${host.name}.`);
}

/** Whether a remediation of the lifecycle manager works on a host now. */
function isRemediated(cluster: ClusterState, host: HostState): boolean {
  return cluster.tasks.some(
    ({ status, runs = [] }) =>
      status === "OPEN" && runs.some((run) => run.host === host.id && run.status === "RUNNING"),
  );
}

/** Milliseconds of a share of a host's time, as slow as the host is. */
function timeOf({ context, cluster, host }: OnHost, share: number): number {
  return share * context.hostMilliseconds() * (vim25HostOf(cluster, host.id).slowness ?? 1);
}

function hostTask(on: OnHost, kind: Vim25Task["kind"], share: number, more: Partial<Vim25Task> = {}): Vim25Task {
  const { context, cluster, host, user } = on;
  const dueAt = context.now() + timeOf(on, share);
  const { id: entity, name: entityName } = host;
  const events = unheard(on, dueAt) ?? more.events ?? succeeds(dueAt);
  return openTask(context, cluster, { kind, entity, entityName, user, dueAt, ...more, events });
}

/** How a task ends when the component manager loses touch with its host. */
function unheard(on: OnHost, at: number): Vim25Event[] | undefined {
  const fault = takeFault(on, ["HOST_COMMUNICATION_FAILS"]);
  const message = fault?.message ?? "An error occurred while communicating with the remote host.";
  if (!fault) return undefined;
  const failed = fails(at, { type: "HostCommunication", message });
  if (fault.seconds === undefined) return failed;
  return [...failed, { at, kind: "HOST_DOWN" }, { at: at + fault.seconds * 1000, kind: "HOST_BACK" }];
}

function record(
  { context, cluster, host }: OnHost,
  step: "MAINTENANCE_REQUESTED" | "REBOOT_REQUESTED" | "APPLY_STARTED",
  task: Vim25Task,
  detail?: string,
) {
  const about = { cluster: cluster.id, host: host.id, task: task.id, attempt: host.applies };
  context.record({ at: context.now(), step, ...about, ...(detail !== undefined && { detail }) });
}

/** Puts a host into maintenance mode; it waits for as long as running VMs cannot leave. `timeout` in seconds, 0: none. */
export function enterMaintenanceMode(on: OnHost, timeout: number, evacuatePoweredOffVms: boolean): Vim25Task {
  mayChangeHost(on);
  const { context, cluster, host } = on;
  if (host.maintenance === "IN") throw methodFault("InvalidState", `Host ${host.name} is in maintenance mode already.`);
  // The remediation of an image-managed host is what is slow.
  const slow = cluster.management === "BASELINE" ? takeFault(on, ["HOST_SLOW"]) : undefined;
  if (slow) vim25HostOf(cluster, host.id).slowness = slow.factor ?? 1;
  const now = context.now();
  const fault = takeFault(on, ["MAINTENANCE_MODE_STUCK", "MAINTENANCE_MODE_HANGS"]);
  const runs = vmsOf(cluster).some((vm) => vm.host === host.id && vm.power === "poweredOn");
  const cannotLeave = runs && (!cluster.drsEnabled || receivers(cluster, host).length === 0);
  const timedOut = {
    type: "Timedout",
    message: fault?.message ?? `Host ${host.name} could not enter maintenance mode: not all VMs left it in time.`,
  };
  const obstacle =
    cluster.management === "IMAGE" && !fault
      ? maintenanceObstacle(context, cluster, host, movingPolicy(context, evacuatePoweredOffVms))
      : undefined;
  const events = obstacle
    ? fails(now + timeOf(on, shares.enter), { type: "InvalidState", message: obstacle })
    : fault?.kind === "MAINTENANCE_MODE_STUCK"
      ? fails(now + (fault.seconds ?? context.hostMilliseconds() / 1000) * 1000, timedOut)
      : fault || cannotLeave
        ? timeout > 0
          ? fails(now + timeout * 1000, timedOut)
          : []
        : undefined;
  host.maintenance = "ENTERING";
  const task = hostTask(on, "HostSystem.enterMaintenanceMode", shares.enter, {
    evacuatePoweredOffVms,
    ...(events && { events }),
  });
  record(on, "MAINTENANCE_REQUESTED", task);
  return task;
}

export function exitMaintenanceMode(on: OnHost): Vim25Task {
  mayChangeHost(on);
  const { context, host } = on;
  if (host.maintenance !== "IN") throw methodFault("InvalidState", `Host ${host.name} is not in maintenance mode.`);
  const fault = takeFault(on, ["MAINTENANCE_EXIT_FAILS"]);
  if (!fault) return hostTask(on, "HostSystem.exitMaintenanceMode", shares.exit);
  const message = fault.message ?? `Host ${host.name} could not exit maintenance mode.`;
  const events = fails(context.now() + timeOf(on, shares.exit), { type: "HostConfigFault", message });
  return hostTask(on, "HostSystem.exitMaintenanceMode", shares.exit, { events });
}

/** The depot image that URLs of metadata mean; a fault where they mean none. */
function imageOf(context: SimulatorContext, urls: readonly string[]): { version: string } | MethodFault {
  const image = context.config.depot.find(({ version, metadataUrl }) =>
    urls.includes(metadataUrl ?? `http://depot.example.com/hostos/${version}/metadata.zip`),
  );
  if (image) return image;
  return { type: "PatchMetadataNotFound", message: `There is no patch metadata at ${urls.join(", ") || "no URL"}.` };
}

export function checkPatch(on: OnHost, urls: readonly string[]): Vim25Task {
  mayChange(on, true);
  const { context, host } = on;
  if (host.connection !== "CONNECTED") throw methodFault("HostNotConnected", `Host ${host.name} is not connected.`);
  const image = imageOf(context, urls);
  if ("version" in image) return hostTask(on, "host.PatchManager.Check", shares.check, { version: image.version });
  return hostTask(on, "host.PatchManager.Check", shares.check, {
    events: fails(context.now() + timeOf(on, shares.check), image),
  });
}

export function installPatch(on: OnHost, urls: readonly string[]): Vim25Task {
  mayChangeHost(on, true);
  const { context, host } = on;
  if (host.maintenance !== "IN") throw methodFault("InvalidState", `Host ${host.name} is not in maintenance mode.`);
  const image = imageOf(context, urls);
  const fault = "version" in image ? takeFault(on, ["REMEDIATION_FAILS"]) : undefined;
  const failure = "version" in image ? fault && installFailure(host, fault.message) : image;
  host.applies += 1;
  const task = hostTask(on, "host.PatchManager.InstallV2", shares.install, {
    ...("version" in image && { version: image.version }),
    ...(failure && { events: fails(context.now() + timeOf(on, shares.install), failure) }),
  });
  record(on, "APPLY_STARTED", task, task.version);
  return task;
}

function installFailure(host: HostState, message?: string): MethodFault {
  return {
    type: "PatchInstallFailed",
    message: message ?? `The bootbank of host ${host.name} has not enough free space for the image.`,
  };
}

/** Restarts a host: the task ends at once, the host is away from then on for a while. */
export function rebootHost(on: OnHost, force: boolean): Vim25Task {
  mayChangeHost(on, true);
  const { context, host } = on;
  if (host.maintenance !== "IN" && !force)
    throw methodFault("InvalidState", `Host ${host.name} is not in maintenance mode.`);
  const lost = takeFault(on, ["HOST_NEVER_RECONNECTS"]);
  const at = (share: number) => context.now() + timeOf(on, share);
  const down: Vim25Event = { at: at(shares.down), kind: "HOST_DOWN", ...(lost && { fault: lost.id }) };
  const up: Vim25Event[] = lost ? [] : [{ at: at(shares.up), kind: "HOST_UP" }];
  const task = hostTask(on, "HostSystem.reboot", shares.reboot, {
    events: [...succeeds(at(shares.reboot)), down, ...up],
  });
  record(on, "REBOOT_REQUESTED", task);
  return task;
}

/** Changes the power of a virtual machine. What it cannot be is told by the task, as the product does. */
export function changeVmPower(on: OnHost, vm: Vim25Vm, kind: keyof typeof powerAfter): Vim25Task {
  mayChange(on);
  const { context, cluster, host, user } = on;
  const dueAt = context.now() + shares.power * context.hostMilliseconds();
  const failure = powerObstacle(on, vm, kind);
  const events = unheard(on, dueAt) ?? (failure ? fails(dueAt, failure) : succeeds(dueAt));
  if (host.connection !== "CONNECTED") throw methodFault("InvalidState", `Host ${host.name} is not connected.`);
  return openTask(context, cluster, { kind, entity: vm.id, entityName: vm.name, user, dueAt, events });
}

function powerObstacle(on: OnHost, vm: Vim25Vm, kind: keyof typeof powerAfter): MethodFault | undefined {
  const fault = takeFault(on, ["VM_POWER_FAILS"]);
  if (fault) return { type: "GenericVmConfigFault", message: fault.message ?? `${vm.name} does not react.` };
  const suspendsStopped = kind === "VirtualMachine.suspend" && vm.power !== "poweredOn";
  if (vm.power === powerAfter[kind] || suspendsStopped)
    return {
      type: "InvalidPowerState",
      message: `${vm.name} is ${vm.power}.`,
      fields: { requestedState: powerAfter[kind], existingState: vm.power },
    };
  if (kind === "VirtualMachine.powerOn" && on.host.maintenance !== "OUT")
    return { type: "InvalidState", message: `Host ${on.host.name} is in maintenance mode.` };
  return undefined;
}

export function reconfigureCluster(on: OnCluster, settings: Vim25Settings): Vim25Task {
  mayChange(on);
  const { context, cluster, user } = on;
  const dueAt = context.now() + shares.reconfigure * context.hostMilliseconds();
  const { id: entity, name: entityName } = cluster;
  const kind = "ComputeResource.reconfigureEx";
  return openTask(context, cluster, { kind, entity, entityName, user, dueAt, events: succeeds(dueAt), settings });
}

/** Whether a task can be cancelled now: only entering maintenance mode can. */
export function isCancelable({ kind, status }: Vim25Task): boolean {
  return kind === "HostSystem.enterMaintenanceMode" && status === "OPEN";
}

/** Cancels a task, at once. */
export function cancelTask(context: SimulatorContext, cluster: ClusterState, task: Vim25Task): void {
  if (task.status !== "OPEN") throw methodFault("InvalidState", "The task has already ended.");
  if (!isCancelable(task)) throw methodFault("NotSupported", "The task cannot be cancelled.");
  task.status = "ERROR";
  task.cancelled = true;
  task.endedAt = context.now();
  task.events = [];
  task.error = { type: "RequestCanceled", message: "The operation was cancelled by a user." };
  const host = cluster.hosts.find(({ id }) => id === task.entity);
  if (host) host.maintenance = "OUT";
  vim25Of(cluster);
  context.record({ at: context.now(), cluster: cluster.id, step: "CANCELLED", host: task.entity, task: task.id });
  context.changed(cluster);
}
