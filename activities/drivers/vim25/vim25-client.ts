import { isLeft, isRight } from "fp-ts/Either";
import type { XmlObject } from "../../../src/xml";
import type { ComponentManagerAccess } from "../component-manager-access";
import { DriverError } from "../driver-error";
import { errorOfShape } from "../vapi/classify-error";
import {
  changingPower,
  clusterProperties,
  hostProperties,
  inventoryReader,
  isReconfiguration,
  modeProperties,
  retrieve,
  type Retrieved,
  type Selection,
  type Traversal,
  vmProperties,
} from "./property-collector";
import { type ManagedObject, referenceTo, serviceInstance, textIn, typed } from "./soap";
import { Vim25Http, type Vim25HttpOptions } from "./vim25-http";
import {
  type ClusterSettings,
  type Evacuation,
  EvacuationResult,
  HostCertificate,
  type HostCertificateEnd,
  Reference,
  TaskInfo,
  type Vim25Cluster,
  type Vim25Host,
  type Vim25HostMode,
  type Vim25Vm,
  XmlText,
} from "./vim25-models";

/** What can be done to the power of a virtual machine; the names of the product's methods without their ending. */
export type VmPowerAction = "PowerOffVM" | "SuspendVM" | "PowerOnVM";

/** Where a host installs from; URLs that the host itself can reach. */
export interface PatchUrls {
  readonly metadataUrls: readonly string[];
  readonly vibUrls?: readonly string[];
}

/**
 * The management interface of baseline-managed clusters, one method per thing that is asked for. `cluster`, `host`,
 * `vm` and `task` are the manager's own ids, such as `domain-c47`, `host-12`. Methods that give a task id return at
 * once; the task tells the end. All throw DriverError; nothing is repeated unasked.
 */
export interface Vim25Client {
  readonly id: string;
  /** The manager's name and version; proves address and credentials. */
  readProduct(): Promise<string>;
  /** The manager's own time, as a timestamp. */
  readTime(): Promise<string>;
  listClusters(): Promise<Vim25Cluster[]>;
  readCluster(cluster: string): Promise<Vim25Cluster>;
  /** The recent tasks that change the settings of a cluster, also those that have ended. */
  listReconfigurations(cluster: string): Promise<TaskInfo[]>;
  listHosts(cluster: string): Promise<Vim25Host[]>;
  /** The maintenance mode of a cluster's hosts and their tasks, and nothing else of them. */
  listHostModes(cluster: string): Promise<Vim25HostMode[]>;
  readHost(host: string): Promise<Vim25Host>;
  /** Its maintenance mode and its tasks, and nothing else of it. */
  readHostMode(host: string): Promise<Vim25HostMode>;
  /** The virtual machines of all the hosts of a cluster. */
  listVms(cluster: string): Promise<Vim25Vm[]>;
  /** Which of these hosts could be empty at the same time, and what keeps the others from it. Moves nothing. */
  planEvacuation(cluster: string, hosts: readonly string[]): Promise<Evacuation>;
  /** When the certificate of each host of a cluster expires; without those of which that is not known. */
  listCertificates(cluster: string): Promise<HostCertificateEnd[]>;
  /** The time of each of these hosts by its own clock, as timestamps; without those that give none. */
  listHostTimes(cluster: string, hosts: readonly string[]): Promise<ReadonlyMap<string, string>>;
  readTask(task: string): Promise<TaskInfo>;
  cancelTask(task: string): Promise<void>;
  /** Without a time limit of its own: who asks watches it. */
  enterMaintenanceMode(host: string, options: { readonly evacuatePoweredOffVms: boolean }): Promise<string>;
  exitMaintenanceMode(host: string): Promise<string>;
  /** Has the host judge whether it can install a patch; changes nothing. */
  checkPatch(host: string, patch: PatchUrls): Promise<string>;
  installPatch(host: string, patch: PatchUrls): Promise<string>;
  /** The task ends before the host goes down. */
  rebootHost(host: string): Promise<string>;
  changeVmPower(vm: string, action: VmPowerAction): Promise<string>;
  /** Changes the settings that are given and leaves all others as they are. */
  reconfigureCluster(cluster: string, settings: ClusterSettings): Promise<string>;
  /** Logs out and drops the connections. Never throws. */
  close(): Promise<void>;
}

const toTasks: Traversal = { type: "HostSystem", path: "recentTask" };
const toHosts = (...then: Traversal[]): Traversal => ({ type: "ClusterComputeResource", path: "host", then });

const clusterObject = (id: string): ManagedObject => ({ type: "ClusterComputeResource", id });
const hostObject = (id: string): ManagedObject => ({ type: "HostSystem", id });

/** A client of one component manager. Its callers share one session; keep one client per manager. */
export function createVim25Client(access: ComponentManagerAccess, options: Vim25HttpOptions): Vim25Client {
  const http = new Vim25Http(access, options);
  const { decode, clusterOf, hostOf, modeOf, tasksOf, vmOf } = inventoryReader(access.id);
  const select = (selection: Selection) => retrieve(http, access.id, selection);

  /** Calls a method of which the answer is a task. */
  async function startTask(what: string, self: ManagedObject, method: string, args: XmlObject = {}): Promise<string> {
    const [task] = await http.call({ what, self, method: `${method}_Task`, args });
    return decode(what, Reference, task).id;
  }

  /** The hosts of a cluster with their tasks, of each these properties. */
  async function selectHosts<A>(
    cluster: string,
    what: string,
    properties: readonly string[],
    read: (what: string, host: Retrieved, tasks: readonly TaskInfo[]) => A,
  ): Promise<A[]> {
    const found = await select({
      what,
      from: clusterObject(cluster),
      skipFrom: true,
      over: [toHosts(toTasks)],
      properties: { HostSystem: properties, Task: ["info"] },
    });
    const tasks = tasksOf(what, found);
    return found
      .filter(({ object }) => object.type === "HostSystem")
      .map((host) =>
        read(
          what,
          host,
          tasks.filter(({ entity }) => entity?.id === host.object.id),
        ),
      );
  }

  /** One host with its tasks, of it these properties. */
  async function selectHost<A>(
    host: string,
    what: string,
    properties: readonly string[],
    read: (what: string, host: Retrieved, tasks: readonly TaskInfo[]) => A,
  ): Promise<A> {
    const found = await select({
      what,
      from: hostObject(host),
      over: [toTasks],
      properties: { HostSystem: properties, Task: ["info"] },
    });
    const own = found.find(({ object }) => object.type === "HostSystem");
    if (!own) throw errorOfShape({ managerId: access.id, what }, "it is empty");
    return read(what, own, tasksOf(what, found));
  }

  async function selectCluster(cluster: string, what: string): Promise<Vim25Cluster> {
    const [found] = await select({
      what,
      from: clusterObject(cluster),
      properties: { ClusterComputeResource: clusterProperties },
    });
    if (!found) throw errorOfShape({ managerId: access.id, what }, "it is empty");
    return clusterOf(what, found);
  }

  /** Steps from the root folder to every cluster, however deep in folders. */
  const toClusters: readonly Traversal[] = [
    { name: "folder", type: "Folder", path: "childEntity", then: ["folder", "datacenter"] },
    { name: "datacenter", type: "Datacenter", path: "hostFolder", then: ["folder"] },
  ];

  return {
    id: access.id,
    readProduct: async () => (await http.content()).about.fullName,
    readTime: async () => {
      const what = "read the time";
      return decode(what, XmlText, (await http.call({ what, self: serviceInstance, method: "CurrentTime" }))[0]);
    },

    listClusters: async () => {
      const what = "list the clusters";
      const { rootFolder } = await http.content();
      const found = await select({
        what,
        from: rootFolder,
        skipFrom: true,
        over: toClusters,
        properties: { ClusterComputeResource: clusterProperties },
      });
      return found.map((cluster) => clusterOf(what, cluster));
    },
    readCluster: (cluster) => selectCluster(cluster, `read the settings of ${cluster}`),
    listReconfigurations: async (cluster) => {
      const what = `list what changes the settings of ${cluster}`;
      const found = await select({
        what,
        from: clusterObject(cluster),
        skipFrom: true,
        over: [{ type: "ClusterComputeResource", path: "recentTask" }],
        properties: { Task: ["info"] },
      });
      return tasksOf(what, found).filter(isReconfiguration);
    },
    listHosts: (cluster) => selectHosts(cluster, `list the hosts of ${cluster}`, hostProperties, hostOf),
    listHostModes: (cluster) =>
      selectHosts(cluster, `list the hosts of ${cluster} in maintenance mode`, modeProperties, modeOf),
    readHost: (host) => selectHost(host, `read host ${host}`, [...hostProperties, "vm"], hostOf),
    readHostMode: (host) => selectHost(host, `read the maintenance mode of ${host}`, modeProperties, modeOf),
    listVms: async (cluster) => {
      const what = `list the virtual machines of ${cluster}`;
      const found = await select({
        what,
        from: clusterObject(cluster),
        skipFrom: true,
        over: [toHosts({ type: "HostSystem", path: "vm", then: [{ type: "VirtualMachine", path: "recentTask" }] })],
        properties: { VirtualMachine: vmProperties, Task: ["info"] },
      });
      const changing = changingPower(tasksOf(what, found));
      return found.filter(({ object }) => object.type === "VirtualMachine").map((vm) => vmOf(what, vm, changing));
    },

    planEvacuation: async (cluster, hosts) => {
      const what = `find out which hosts of ${cluster} can be emptied`;
      const [result] = await http.call({
        what,
        self: clusterObject(cluster),
        method: "ClusterEnterMaintenanceMode",
        args: { host: hosts.map((host) => referenceTo(hostObject(host))) },
      });
      return decode(what, EvacuationResult, result ?? {});
    },
    listCertificates: async (cluster) => {
      const what = `read the certificates of the hosts of ${cluster}`;
      const path = "configManager.certificateManager";
      const found = await select({
        what,
        from: clusterObject(cluster),
        skipFrom: true,
        over: [toHosts({ type: "HostSystem", path })],
        properties: { HostSystem: [path], HostCertificateManager: ["certificateInfo"] },
      });
      return found.flatMap(({ object, properties }) => {
        const info = properties["certificateInfo"];
        if (object.type !== "HostCertificateManager" || info === undefined) return [];
        const owner = found.find((one) => textIn(one.properties[path]) === object.id);
        const { notAfter } = decode(what, HostCertificate, info);
        return owner && notAfter !== undefined ? [{ host: owner.object.id, expiresAt: notAfter }] : [];
      });
    },
    listHostTimes: async (cluster, hosts) => {
      const what = `read the clocks of the hosts of ${cluster}`;
      const path = "configManager.dateTimeSystem";
      const found = await select({
        what,
        from: clusterObject(cluster),
        skipFrom: true,
        over: [toHosts()],
        properties: { HostSystem: [path] },
      });
      const asked = found.flatMap(({ object, properties }) => {
        const clock = Reference.decode(properties[path]);
        return hosts.includes(object.id) && isRight(clock) ? [{ host: object.id, clock: clock.right }] : [];
      });
      const answers = await Promise.allSettled(
        asked.map(async ({ host, clock }) => {
          const [time] = await http.call({ what: `read the clock of ${host}`, self: clock, method: "QueryDateTime" });
          return [host, decode(what, XmlText, time)] as const;
        }),
      );
      const times = new Map(answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : [])));
      const failed = answers.find((answer) => answer.status === "rejected");
      // One host may be away; where none answers, the interface does not.
      if (failed && times.size === 0) throw failed.reason as Error;
      return times;
    },

    readTask: async (task) => {
      const what = `read task ${task}`;
      const [found] = await select({ what, from: { type: "Task", id: task }, properties: { Task: ["info"] } });
      return decode(what, TaskInfo, found?.properties["info"]);
    },
    cancelTask: async (task) => {
      await http.call({ what: `cancel task ${task}`, self: { type: "Task", id: task }, method: "CancelTask" });
    },

    enterMaintenanceMode: (host, { evacuatePoweredOffVms }) =>
      startTask(`put ${host} into maintenance mode`, hostObject(host), "EnterMaintenanceMode", {
        timeout: "0",
        evacuatePoweredOffVms: String(evacuatePoweredOffVms),
      }),
    exitMaintenanceMode: (host) =>
      startTask(`take ${host} out of maintenance mode`, hostObject(host), "ExitMaintenanceMode", { timeout: "0" }),
    checkPatch: async (host, patch) => {
      const what = `have ${host} check a patch`;
      return startTask(what, await patchManagerOf(host, what), "CheckHostPatch", { metaUrls: patch.metadataUrls });
    },
    installPatch: async (host, patch) => {
      const what = `start the installation on ${host}`;
      return startTask(what, await patchManagerOf(host, what), "InstallHostPatchV2", {
        metaUrls: patch.metadataUrls,
        vibUrls: patch.vibUrls ?? [],
      });
    },
    rebootHost: (host) => startTask(`restart ${host}`, hostObject(host), "RebootHost", { force: "false" }),
    changeVmPower: (vm, action) =>
      startTask(`${vmActions[action]} virtual machine ${vm}`, { type: "VirtualMachine", id: vm }, action),
    reconfigureCluster: (cluster, { admissionControl, dpm, drs }) =>
      startTask(`change the settings of ${cluster}`, clusterObject(cluster), "ReconfigureComputeResource", {
        spec: typed("ClusterConfigSpecEx", {
          dasConfig: admissionControl === undefined ? undefined : { admissionControlEnabled: String(admissionControl) },
          drsConfig: drs && { enabled: String(drs.enabled), defaultVmBehavior: drs.automation || undefined },
          dpmConfig: dpm === undefined ? undefined : { enabled: String(dpm) },
        }),
        modify: "true",
      }),
    close: () => http.close(),
  };

  async function patchManagerOf(host: string, what: string): Promise<ManagedObject> {
    const [found] = await select({
      what,
      from: hostObject(host),
      properties: { HostSystem: ["configManager.patchManager"] },
    });
    const manager = Reference.decode(found?.properties["configManager.patchManager"]);
    if (isLeft(manager)) {
      throw new DriverError({
        kind: "permanent",
        code: "COMPONENT_MANAGER_REFUSED",
        message: `Could not ${what}: ${access.id} has no patch manager for it.`,
        remediation: "Check that the service's user may manage patches of the host, then retry the upgrade.",
      });
    }
    return manager.right;
  }
}

const vmActions: Readonly<Record<VmPowerAction, string>> = {
  PowerOffVM: "power off",
  SuspendVM: "suspend",
  PowerOnVM: "power on",
};
