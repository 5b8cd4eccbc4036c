import * as t from "io-ts";
import { model, OneOf } from "../../domain/codec";
import { Moment } from "../state/moment";

const VmPower = OneOf("poweredOn", "poweredOff", "suspended");

/**
 * A virtual machine. `home` is the host that it left for maintenance and returns to, `was` the power that it had before
 * a remediation of its host changed it.
 */
export const Vim25Vm = model(
  { id: t.string, name: t.string, host: t.string, power: VmPower },
  { home: t.string, was: VmPower },
);
export type Vim25Vm = t.TypeOf<typeof Vim25Vm>;

const MethodFault = model({ type: t.string, message: t.string }, { fields: t.record(t.string, t.string) });
/** A fault of the vendor's schema: its type, a text for people, and its own fields. */
export type MethodFault = t.TypeOf<typeof MethodFault>;

/** Something that a task will do at a moment. */
const Vim25Event = model(
  { at: Moment, kind: OneOf("SUCCEEDS", "FAILS", "HOST_DOWN", "HOST_UP", "HOST_BACK") },
  {
    failure: MethodFault,
    /** Of HOST_DOWN: the fault that keeps the host from coming back. */
    fault: t.string,
  },
);
export type Vim25Event = t.TypeOf<typeof Vim25Event>;

/** Settings of a cluster that a reconfiguration changes; those that are absent stay. */
export const Vim25Settings = model(
  {},
  {
    admissionControl: t.boolean,
    dpm: t.boolean,
    drsEnabled: t.boolean,
    drsAutomation: t.string,
  },
);
export type Vim25Settings = t.TypeOf<typeof Vim25Settings>;

/** What a task does; the names are those in the vendor's `descriptionId`. */
export const Vim25TaskKind = OneOf(
  "HostSystem.enterMaintenanceMode",
  "HostSystem.exitMaintenanceMode",
  "HostSystem.reboot",
  "host.PatchManager.Check",
  "host.PatchManager.InstallV2",
  "VirtualMachine.powerOn",
  "VirtualMachine.powerOff",
  "VirtualMachine.suspend",
  "ComputeResource.reconfigureEx",
);
export type Vim25TaskKind = t.TypeOf<typeof Vim25TaskKind>;

/**
 * A task. `events` is its future: an OPEN one without any hangs, and that of a reboot goes on after its end. `entity`
 * is the id of the host, virtual machine or cluster that it works on.
 */
export const Vim25Task = model(
  {
    id: t.string,
    kind: Vim25TaskKind,
    entity: t.string,
    entityName: t.string,
    user: t.string,
    status: OneOf("OPEN", "SUCCESS", "ERROR"),
    queuedAt: Moment,
    /** When its progress is to be complete. */
    dueAt: Moment,
    /** True once the component manager claims not to know its id. */
    forgotten: t.boolean,
    events: t.array(Vim25Event),
  },
  {
    endedAt: Moment,
    cancelled: t.boolean,
    error: MethodFault,
    version: t.string,
    evacuatePoweredOffVms: t.boolean,
    settings: Vim25Settings,
  },
);
export type Vim25Task = t.TypeOf<typeof Vim25Task>;

/** What the management interface knows of a host beyond what all APIs share. */
const Vim25Host = model({ bootTime: Moment }, { installed: t.string, slowness: t.number });

/** The part of a cluster that only the management interface shows. */
export const Vim25Cluster = model(
  { vms: t.array(Vim25Vm), tasks: t.array(Vim25Task), hosts: t.record(t.string, Vim25Host) },
  { drsAutomation: t.string },
);
export type Vim25Cluster = t.TypeOf<typeof Vim25Cluster>;
