import type { SimulatorContext } from "../state/context";
import type { ClusterState, HostState } from "../state/simulator-state";
import { taskInfo } from "./task-info";
import { findTask, tasksOf } from "./tasks";
import { boolean, list, moment, name, object, reference, text, type Value } from "./values";
import type { Vim25Task, Vim25Vm } from "./vim25-state";
import { bootTimeOf, vmsOf, vmsOn } from "./virtual-machines";

/**
 * The properties that a managed object has here, each made when it is asked for: clients ask for few of them, of many
 * objects. One that is undefined exists and is not set.
 */
export type Properties = Readonly<Record<string, () => Value | undefined>>;

/** An object of the inventory as clients of the property collector see it. */
export interface ManagedObject {
  readonly type: string;
  readonly id: string;
  readonly properties: Properties;
}

/** The version of the interface that the simulator answers as. */
export const apiVersion = "8.0.3.0";

const references = (type: string, ids: readonly string[]): Value =>
  list(
    "ManagedObjectReference",
    ids.map((id) => reference(type, id)),
  );

/** What every entity of the inventory has. */
function entity(
  entityName: string,
  parent: Value | undefined,
  health: () => "green" | "yellow" | "red",
  tasks: () => readonly Vim25Task[],
): Properties {
  return {
    name: () => text(entityName),
    parent: () => parent,
    overallStatus: () => name("ManagedEntityStatus", health()),
    recentTask: () =>
      references(
        "Task",
        tasks().map(({ id }) => id),
      ),
  };
}

const isGreen = () => "green" as const;
const noTasks = () => [];

/** The managed object that a reference means; undefined where there is none. */
export function findObject(context: SimulatorContext, type: string, id: string): ManagedObject | undefined {
  const properties = propertiesOf(context, type, id);
  return properties && { type, id, properties };
}

function propertiesOf(context: SimulatorContext, type: string, id: string): Properties | undefined {
  switch (type) {
    case "ServiceInstance":
      return id === "ServiceInstance" ? { content: serviceContent } : undefined;
    case "Folder":
      return folders(context)[id];
    case "Datacenter":
      return id === "datacenter-1"
        ? {
            ...entity("simulated", reference("Folder", "group-d1"), isGreen, noTasks),
            hostFolder: () => reference("Folder", "group-h1"),
            vmFolder: () => reference("Folder", "group-v1"),
          }
        : undefined;
    case "ClusterComputeResource": {
      const cluster = context.hostIndex.cluster(id);
      return cluster && clusterProperties(context, cluster);
    }
    case "HostSystem": {
      const known = context.hostIndex.host(id);
      return known && hostProperties(context, known.cluster, known.host);
    }
    case "VirtualMachine":
      return inCluster(context, (cluster) => {
        const vm = vmsOf(cluster).find((known) => known.id === id);
        return vm && vmProperties(cluster, vm);
      });
    case "HostCertificateManager": {
      const known = context.hostIndex.host(hostIdIn(id));
      return known && { certificateInfo: () => certificateOf(context, known.cluster, known.host) };
    }
    case "Task": {
      const known = findTask(context, id);
      return known && { info: () => taskInfo(context, known.cluster, known.task) };
    }
    default:
      return undefined;
  }
}

function inCluster(
  context: SimulatorContext,
  find: (cluster: ClusterState) => Properties | undefined,
): Properties | undefined {
  for (const cluster of context.state.clusters) {
    const found = find(cluster);
    if (found) return found;
  }
  return undefined;
}

function folders(context: SimulatorContext): Readonly<Record<string, Properties>> {
  const clusters = () =>
    references(
      "ClusterComputeResource",
      context.state.clusters.map(({ id }) => id),
    );
  const datacenter = reference("Datacenter", "datacenter-1");
  return {
    "group-d1": {
      ...entity("Datacenters", undefined, isGreen, noTasks),
      childEntity: () => list("ManagedObjectReference", [datacenter]),
    },
    "group-h1": { ...entity("host", datacenter, isGreen, noTasks), childEntity: clusters },
    "group-v1": { ...entity("vm", datacenter, isGreen, noTasks), childEntity: () => references("VirtualMachine", []) },
  };
}

/** The root objects and what the simulator calls itself. */
export function serviceContent(): Value {
  return object("ServiceContent", {
    rootFolder: reference("Folder", "group-d1"),
    propertyCollector: reference("PropertyCollector", "propertyCollector"),
    viewManager: reference("ViewManager", "ViewManager"),
    about: object("AboutInfo", {
      name: text("VMware vCenter Server"),
      fullName: text("Component manager simulator 8.0.3 build-0"),
      vendor: text("Upgrade management service"),
      version: text("8.0.3"),
      build: text("0"),
      osType: text("linux-x64"),
      productLineId: text("vpx"),
      apiType: text("VirtualCenter"),
      apiVersion: text(apiVersion),
    }),
    sessionManager: reference("SessionManager", "SessionManager"),
  });
}

/** How bad what a CHECK_FAILS fault says of a host is; undefined without one. */
function issueOf(context: SimulatorContext, cluster: ClusterState, host: HostState): "red" | "yellow" | undefined {
  const fault = context.findFault(["CHECK_FAILS"], { cluster: cluster.id, host: host.id });
  return fault && (fault.warning === true ? "yellow" : "red");
}

function clusterProperties(context: SimulatorContext, cluster: ClusterState): Properties {
  const health = () => {
    const issues = cluster.hosts.map((host) => issueOf(context, cluster, host));
    if (issues.includes("red")) return "red";
    if (issues.includes("yellow")) return "yellow";
    return cluster.hosts.every(({ connection }) => connection === "CONNECTED") ? "green" : "yellow";
  };
  return {
    ...entity(cluster.name, reference("Folder", "group-h1"), health, () => tasksOf(cluster, cluster.id)),
    host: () =>
      references(
        "HostSystem",
        cluster.hosts.map(({ id }) => id),
      ),
    configurationEx: () =>
      object("ClusterConfigInfoEx", {
        dasConfig: object("ClusterDasConfigInfo", {
          enabled: boolean(cluster.haEnabled),
          admissionControlEnabled: boolean(cluster.admissionControl),
        }),
        drsConfig: object("ClusterDrsConfigInfo", {
          enabled: boolean(cluster.drsEnabled),
          defaultVmBehavior: name("DrsBehavior", cluster.vim25?.drsAutomation ?? "fullyAutomated"),
        }),
        dpmConfigInfo: object("ClusterDpmConfigInfo", { enabled: boolean(cluster.dpm) }),
      }),
  };
}

const connections = { CONNECTED: "connected", DISCONNECTED: "disconnected", NOT_RESPONDING: "notResponding" } as const;
const powers = { POWERED_ON: "poweredOn", POWERED_OFF: "poweredOff", STANDBY: "standBy" } as const;

/** A base image version in the two parts that hosts tell: `9.0.1-0.24957456` is release 9.0.1 of build 24957456. */
function productOf(version: string): Value {
  const release = version.split("-")[0] ?? version;
  const build = version.split(/[.-]/).at(-1) ?? "";
  return object("AboutInfo", {
    name: text("VMware ESXi"),
    fullName: text(`VMware ESXi ${release} build-${build}`),
    version: text(release),
    build: text(build),
    apiType: text("HostAgent"),
  });
}

const idOnHost = (kind: string, { id }: HostState) => `${kind}-${id.replace(/\D/g, "")}`;

/** The id of the host to which an object such as its patch manager belongs: it has the host's number. */
export function hostIdIn(id: string): string {
  return `host-${id.replace(/\D/g, "")}`;
}

const year = 365 * 86_400_000;

function certificateOf(context: SimulatorContext, cluster: ClusterState, host: HostState): Value {
  const fault = context.findFault(["HOST_CERTIFICATE_EXPIRES"], { cluster: cluster.id, host: host.id });
  const expiresIn = fault ? (fault.seconds ?? 0) * 1000 : year;
  return object("HostCertificateManagerCertificateInfo", {
    issuer: text("CN=CA"),
    notBefore: moment(context.now() - year),
    notAfter: moment(context.now() + expiresIn),
    subject: text(`CN=${host.name}`),
    status: text(fault ? "expirationImminent" : "good"),
  });
}

function hostProperties(context: SimulatorContext, cluster: ClusterState, host: HostState): Properties {
  const isConnected = host.connection === "CONNECTED";
  const product = () => productOf(host.version);
  const health = () => {
    const issue = issueOf(context, cluster, host);
    if (issue === "red" || host.lostBy !== undefined) return "red";
    return issue ?? (isConnected ? "green" : "yellow");
  };
  return {
    ...entity(host.name, reference("ClusterComputeResource", cluster.id), health, () => tasksOf(cluster, host.id)),
    runtime: () =>
      object("HostRuntimeInfo", {
        connectionState: name("HostSystemConnectionState", connections[host.connection]),
        powerState: name("HostSystemPowerState", isConnected ? powers[host.power] : "unknown"),
        inMaintenanceMode: boolean(host.maintenance === "IN"),
        bootTime: isConnected ? moment(bootTimeOf(cluster, host.id)) : undefined,
      }),
    summary: () =>
      object("HostListSummary", {
        config: object("HostConfigSummary", { name: text(host.name), product: product() }),
        rebootRequired: boolean(cluster.vim25?.hosts[host.id]?.installed !== undefined),
      }),
    // The manager has the whole configuration only of a host that it can ask.
    config: () => (isConnected ? object("HostConfigInfo", { product: product() }) : undefined),
    configManager: () =>
      object("HostConfigManager", {
        patchManager: reference("HostPatchManager", idOnHost("patchManager", host)),
        certificateManager: reference("HostCertificateManager", idOnHost("certificateManager", host)),
        dateTimeSystem: reference("HostDateTimeSystem", idOnHost("dateTimeSystem", host)),
      }),
    vm: () =>
      references(
        "VirtualMachine",
        vmsOn(cluster, host).map(({ id }) => id),
      ),
  };
}

function vmProperties(cluster: ClusterState, vm: Vim25Vm): Properties {
  return {
    ...entity(vm.name, reference("Folder", "group-v1"), isGreen, () => tasksOf(cluster, vm.id)),
    runtime: () =>
      object("VirtualMachineRuntimeInfo", {
        host: reference("HostSystem", vm.host),
        connectionState: name("VirtualMachineConnectionState", "connected"),
        powerState: name("VirtualMachinePowerState", vm.power),
      }),
  };
}
