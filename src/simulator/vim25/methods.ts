import { randomUUID } from "node:crypto";
import type { XmlItem, XmlValue } from "../../xml";
import type { SimulatorContext } from "../state/context";
import { planEvacuation } from "./evacuation-plan";
import { findObject, hostIdIn, type ManagedObject, serviceContent } from "./managed-objects";
import {
  cancelTask,
  changeVmPower,
  checkPatch,
  enterMaintenanceMode,
  exitMaintenanceMode,
  installPatch,
  type OnHost,
  rebootHost,
  reconfigureCluster,
} from "./operations";
import { notFound, propertyAt, type PropertyFilters, selectObjects } from "./property-collector";
import { booleanOf, child, children, methodFault, referenceOf, type SoapRequest, textOf } from "./soap";
import { findTask } from "./tasks";
import { anyOf, elementsOf, list, moment, object, reference, referencesIn, text } from "./values";
import type { Vim25Settings, Vim25Task, Vim25Vm } from "./vim25-state";
import { vmsOf } from "./virtual-machines";

/** A call of somebody who is logged in. `token` is that of the session. */
export interface MethodCall extends SoapRequest {
  readonly context: SimulatorContext;
  readonly user: string;
  readonly token: string;
  readonly views: Views;
  readonly filters: PropertyFilters;
}

type Answer = XmlValue | undefined;
type Method = (call: MethodCall) => Answer;

const taskReference = ({ id }: Vim25Task): XmlItem => elementsOf(reference("Task", id)) as XmlItem;

function onHost({ context, self, user }: MethodCall, id = self.id): OnHost {
  const known = context.hostIndex.host(id);
  if (!known) throw notFound(self);
  return { context, ...known, user };
}

/** The host of a `HostPatchManager`, whose id has the host's number. */
const onPatchManager = (call: MethodCall) => onHost(call, hostIdIn(call.self.id));

function onVm(call: MethodCall, change: (on: OnHost, vm: Vim25Vm) => Vim25Task) {
  for (const cluster of call.context.state.clusters) {
    const vm = vmsOf(cluster).find(({ id }) => id === call.self.id);
    if (!vm) continue;
    return taskReference(change(onHost(call, vm.host), vm));
  }
  throw notFound(call.self);
}

const integerOf = (call: MethodCall, name: string) => {
  const value = Number(textOf(child(call.parameters, name)) ?? "0");
  if (!Number.isInteger(value)) throw methodFault("InvalidRequest", `${name} is no whole number.`);
  return value;
};
const flagOf = (call: MethodCall, name: string) => booleanOf(child(call.parameters, name)) ?? false;
const urlsOf = (call: MethodCall) => children(call.parameters, "metaUrls").map((url) => textOf(url) ?? "");

/** A page of an answer of the property collector, with the token of the next where there is one. */
function pageOf(call: MethodCall, objects: readonly XmlItem[], size: number): Answer {
  if (objects.length === 0) return undefined;
  const rest = size > 0 ? objects.slice(size) : [];
  const token = rest.length > 0 ? call.views.keepPage(call.token, rest, size) : undefined;
  return { ...(token !== undefined && { token }), objects: rest.length > 0 ? objects.slice(0, size) : objects };
}

const find = (call: MethodCall) => (type: string, id: string) =>
  type === "ContainerView" ? call.views.find(call.context, call.token, id) : findObject(call.context, type, id);

const selected = (call: MethodCall) =>
  children(call.parameters, "specSet").flatMap((spec) => selectObjects(find(call), spec));

const updatesFor = (call: MethodCall): Answer =>
  call.filters.updates(call.token, textOf(child(call.parameters, "version")), find(call));

/**
 * How many milliseconds a method waits for something to answer; 0 for those that answer at once, infinite for
 * `WaitForUpdates`, and for `WaitForUpdatesEx` without a limit.
 */
export function waitOf({ method, parameters }: SoapRequest): number {
  if (method === "WaitForUpdates") return Infinity;
  if (method !== "WaitForUpdatesEx") return 0;
  const seconds = textOf(child(child(parameters, "options"), "maxWaitSeconds"));
  return seconds === undefined ? Infinity : Number(seconds) * 1000;
}

function settingsOf(call: MethodCall): Vim25Settings {
  const spec = child(call.parameters, "spec");
  const das = booleanOf(child(child(spec, "dasConfig"), "admissionControlEnabled"));
  const dpm = booleanOf(child(child(spec, "dpmConfig"), "enabled"));
  const drs = booleanOf(child(child(spec, "drsConfig"), "enabled"));
  const automation = textOf(child(child(spec, "drsConfig"), "defaultVmBehavior"));
  return {
    ...(das !== undefined && { admissionControl: das }),
    ...(dpm !== undefined && { dpm }),
    ...(drs !== undefined && { drsEnabled: drs }),
    ...(automation !== undefined && { drsAutomation: automation }),
  };
}

function existing(call: MethodCall): ManagedObject {
  const { type, id } = call.self;
  const known = find(call)(type, id);
  if (!known) throw notFound(call.self);
  return known;
}

/** Methods that need a session, by the type of the object that they are called on and their name. */
const methods: Readonly<Record<string, Method>> = {
  "ServiceInstance.CurrentTime": ({ context }) => elementsOf(moment(context.now())),
  "SessionManager.Logout": ({ context, token, views, filters }) => {
    context.sessions.logout(token);
    views.drop(token);
    filters.drop(token);
    return undefined;
  },

  "PropertyCollector.RetrievePropertiesEx": (call) =>
    pageOf(call, selected(call), Number(textOf(child(child(call.parameters, "options"), "maxObjects")) ?? "0")),
  "PropertyCollector.RetrieveProperties": (call) => selected(call),
  "PropertyCollector.ContinueRetrievePropertiesEx": (call) => {
    const kept = call.views.takePage(call.token, textOf(child(call.parameters, "token")) ?? "");
    if (!kept) throw methodFault("InvalidProperty", "There is no such token.", { name: "token" });
    return pageOf(call, kept.objects, kept.size);
  },
  "PropertyCollector.CreateFilter": (call) => {
    const spec = child(call.parameters, "spec");
    if (!spec) throw methodFault("InvalidArgument", "There is no spec.", { invalidProperty: "spec" });
    return elementsOf(reference("PropertyFilter", call.filters.create(call.token, spec, find(call))));
  },
  "PropertyFilter.DestroyPropertyFilter": (call) => {
    if (!call.filters.destroy(call.token, call.self.id)) throw notFound(call.self);
    return undefined;
  },
  "PropertyCollector.CheckForUpdates": (call) => updatesFor(call),
  // Called again and again until there is something: see `waitOf`.
  "PropertyCollector.WaitForUpdates": (call) => updatesFor(call),
  "PropertyCollector.WaitForUpdatesEx": (call) => updatesFor(call),
  "ViewManager.CreateContainerView": (call) => {
    const container = referenceOf(child(call.parameters, "container"));
    const root = container && find(call)(container.type, container.id);
    if (!container || !root) throw notFound(container ?? call.self);
    const types = children(call.parameters, "type").map((type) => textOf(type) ?? "");
    return elementsOf(reference("ContainerView", call.views.create(call.token, container, types)));
  },
  "ContainerView.DestroyView": (call) => {
    existing(call);
    call.views.destroy(call.token, call.self.id);
    return undefined;
  },

  "Task.CancelTask": ({ context, self }) => {
    const known = findTask(context, self.id);
    if (!known) throw notFound(self);
    cancelTask(context, known.cluster, known.task);
    return undefined;
  },
  "HostSystem.EnterMaintenanceMode_Task": (call) =>
    taskReference(
      enterMaintenanceMode(onHost(call), integerOf(call, "timeout"), flagOf(call, "evacuatePoweredOffVms")),
    ),
  "HostSystem.ExitMaintenanceMode_Task": (call) => taskReference(exitMaintenanceMode(onHost(call))),
  "HostSystem.RebootHost_Task": (call) => taskReference(rebootHost(onHost(call), flagOf(call, "force"))),
  "HostPatchManager.CheckHostPatch_Task": (call) => taskReference(checkPatch(onPatchManager(call), urlsOf(call))),
  "HostPatchManager.InstallHostPatchV2_Task": (call) => taskReference(installPatch(onPatchManager(call), urlsOf(call))),
  "HostDateTimeSystem.QueryDateTime": (call) => {
    const { context, cluster, host } = onHost(call, hostIdIn(call.self.id));
    if (host.connection !== "CONNECTED") throw methodFault("HostNotConnected", `Host ${host.name} is not connected.`);
    const fault = context.findFault(["HOST_CLOCK_WRONG"], { cluster: cluster.id, host: host.id });
    return elementsOf(moment(context.now() - (fault ? (fault.seconds ?? 600) * 1000 : 0)));
  },
  "VirtualMachine.PowerOnVM_Task": (call) => onVm(call, (on, vm) => changeVmPower(on, vm, "VirtualMachine.powerOn")),
  "VirtualMachine.PowerOffVM_Task": (call) => onVm(call, (on, vm) => changeVmPower(on, vm, "VirtualMachine.powerOff")),
  "VirtualMachine.SuspendVM_Task": (call) => onVm(call, (on, vm) => changeVmPower(on, vm, "VirtualMachine.suspend")),
  "ClusterComputeResource.ClusterEnterMaintenanceMode": (call) => {
    const cluster = call.context.hostIndex.cluster(call.self.id);
    if (!cluster) throw notFound(call.self);
    const asked = children(call.parameters, "host").map((host) => referenceOf(host)?.id);
    return elementsOf(
      planEvacuation(
        call.context,
        cluster,
        cluster.hosts.filter(({ id }) => asked.includes(id)),
      ),
    );
  },
  "ClusterComputeResource.ReconfigureComputeResource_Task": (call) => {
    const cluster = call.context.hostIndex.cluster(call.self.id);
    if (!cluster) throw notFound(call.self);
    return taskReference(reconfigureCluster({ ...call, cluster }, settingsOf(call)));
  },
};

/** Calls a method; throws the fault with which it answers instead, also where there is no such method. */
export function callMethod(call: MethodCall): Answer {
  const { type, id } = call.self;
  // How the vendor's own clients read a single property.
  if (call.method === "Fetch") {
    const value = propertyAt(existing(call), textOf(child(call.parameters, "prop")) ?? "");
    return value && anyOf(value);
  }
  const method = methods[`${type}.${call.method}`];
  if (method) return method(call);
  throw methodFault("NotImplemented", `The simulator has no ${type}.${call.method} (called on ${id}).`);
}

/** What is answered without a session. */
export function callOpenMethod({ method }: SoapRequest): Answer {
  return method === "RetrieveServiceContent" ? elementsOf(serviceContent()) : undefined;
}

/** A session as the login answers it; its key is no secret of the session. */
export function userSession(user: string, at: number): XmlItem {
  const session = object("UserSession", {
    key: text("simulated"),
    userName: text(user),
    fullName: text(user),
    loginTime: moment(at),
    lastActiveTime: moment(at),
    locale: text("en"),
    messageLocale: text("en"),
  });
  return elementsOf(session) as XmlItem;
}

interface View {
  readonly container: { readonly type: string; readonly id: string };
  readonly types: readonly string[];
}

interface Page {
  readonly objects: readonly XmlItem[];
  readonly size: number;
}

interface OfSession {
  readonly views: Map<string, View>;
  readonly pages: Map<string, Page>;
}

/** What the component manager keeps for a session and forgets with it: container views, and answers not read to the end. */
export class Views {
  private readonly sessions = new Map<string, OfSession>();

  private of(token: string): OfSession {
    const known = this.sessions.get(token) ?? { views: new Map<string, View>(), pages: new Map<string, Page>() };
    this.sessions.set(token, known);
    return known;
  }

  drop(token: string): void {
    this.sessions.delete(token);
  }

  /** Keeps what is left of an answer; gives the token for it. */
  keepPage(token: string, objects: readonly XmlItem[], size: number): string {
    const key = randomUUID();
    this.of(token).pages.set(key, { objects, size });
    return key;
  }

  takePage(token: string, key: string): Page | undefined {
    const page = this.of(token).pages.get(key);
    this.of(token).pages.delete(key);
    return page;
  }

  create(token: string, container: View["container"], types: readonly string[]): string {
    const id = `view-${randomUUID().slice(0, 8)}`;
    this.of(token).views.set(id, { container, types });
    return id;
  }

  destroy(token: string, id: string): void {
    this.of(token).views.delete(id);
  }

  /** A view with what it shows now: everything of its types below its container, however deep. */
  find(context: SimulatorContext, token: string, id: string): ManagedObject | undefined {
    const view = this.of(token).views.get(id);
    if (!view) return undefined;
    const wanted = (type: string) =>
      view.types.length === 0 || view.types.some((of) => of === type || of === "ManagedEntity");
    const shown = descendants(context, view.container).filter(({ type }) => wanted(type));
    return {
      type: "ContainerView",
      id,
      properties: {
        container: () => reference(view.container.type, view.container.id),
        view: () =>
          list(
            "ManagedObjectReference",
            shown.map((object) => reference(object.type, object.id)),
          ),
      },
    };
  }
}

/** Properties that lead from an entity to those that are in it. */
const inside = ["childEntity", "hostFolder", "vmFolder", "host", "vm"];

function descendants(
  context: SimulatorContext,
  { type, id }: View["container"],
): readonly { type: string; id: string }[] {
  const properties = findObject(context, type, id)?.properties ?? {};
  const children = inside.flatMap((name) => referencesIn(properties[name]?.()));
  return children.flatMap((child) => [child, ...descendants(context, child)]);
}
