import { isLeft, isRight } from "fp-ts/Either";
import type * as t from "io-ts";
import { listOf, type XmlObject, type XmlValue } from "../../../src/xml";
import { errorOfShape } from "../vapi/classify-error";
import {
  errorOfFault,
  fieldOf,
  localizedFault,
  type ManagedObject,
  referenceTo,
  type SoapFault,
  textIn,
  typed,
} from "./soap";
import type { Vim25Http } from "./vim25-http";
import {
  ClusterConfiguration,
  hasEnded,
  Product,
  Reference,
  TaskInfo,
  type Vim25Cluster,
  type Vim25Host,
  type Vim25HostMode,
  type Vim25Vm,
  XmlBoolean,
  XmlName,
  XmlText,
} from "./vim25-models";

/** A step from one object to others: the property of a type that refers to them. `name` lets other steps go on with it. */
export interface Traversal {
  readonly name?: string;
  readonly type: string;
  readonly path: string;
  /** Steps from there, or names of steps. */
  readonly then?: readonly (Traversal | string)[];
}

/** What to read: from which object, over which steps, and which properties of each type. */
export interface Selection {
  /** Completes the sentence "could not …". */
  readonly what: string;
  readonly from: ManagedObject;
  /** Whether the object itself is not wanted. */
  readonly skipFrom?: boolean;
  readonly over?: readonly Traversal[];
  readonly properties: Readonly<Record<string, readonly string[]>>;
}

/** One object with the properties that it has. */
export interface Retrieved {
  readonly object: ManagedObject;
  readonly properties: Readonly<Record<string, XmlValue>>;
}

/**
 * Reads objects by the manager's property collector, all pages of the answer. Objects that come and go meanwhile are
 * no error, because only the first one is named. Throws DriverError.
 */
export async function retrieve(http: Vim25Http, managerId: string, selection: Selection): Promise<Retrieved[]> {
  const { propertyCollector } = await http.content();
  const { what } = selection;
  const found: Retrieved[] = [];
  const tellsLostSession = (pages: readonly XmlValue[]) =>
    pages.some((page) => missingFaults(page).some(({ type }) => type === "NotAuthenticated"));
  let [page] = await http.call({
    what,
    self: propertyCollector,
    method: "RetrievePropertiesEx",
    args: { specSet: filterOf(selection), options: {} },
    tellsLostSession,
  });
  for (;;) {
    // Properties of a session that has ended, or may not read them, are "missing"; others are so in good order.
    const withheld = (page === undefined ? [] : missingFaults(page)).find(
      ({ type }) => type === "NotAuthenticated" || type === "NoPermission",
    );
    if (withheld) throw errorOfFault({ managerId, what }, withheld);
    for (const object of objectsOf(page)) {
      const reference = Reference.decode(fieldOf(object, "obj"));
      if (isRight(reference)) found.push({ object: reference.right, properties: propertiesOf(object) });
    }
    const token = textIn(fieldOf(page, "token"));
    if (token === "") return found;
    [page] = await http.call({
      what,
      self: propertyCollector,
      method: "ContinueRetrievePropertiesEx",
      args: { token },
      tellsLostSession,
    });
  }
}

function objectsOf(page: XmlValue | undefined): readonly XmlValue[] {
  return listOf(fieldOf(page, "objects"));
}

function missingFaults(page: XmlValue): SoapFault[] {
  return objectsOf(page).flatMap((object) =>
    listOf(fieldOf(object, "missingSet")).map((missing) => localizedFault(fieldOf(missing as XmlValue, "fault"))),
  );
}

function propertiesOf(object: XmlValue): Record<string, XmlValue> {
  const entries = listOf(fieldOf(object, "propSet")).map((property): [string, XmlValue] => [
    textIn(fieldOf(property as XmlValue, "name")),
    fieldOf(property as XmlValue, "val") ?? "",
  ]);
  return Object.fromEntries(entries);
}

function filterOf({ from, skipFrom = false, over = [], properties }: Selection): XmlObject {
  return {
    propSet: Object.entries(properties).map(([type, pathSet]) => ({ type, pathSet })),
    objectSet: { obj: referenceTo(from), skip: String(skipFrom), selectSet: over.map(traversalOf) },
  };
}

function traversalOf(step: Traversal | string): XmlObject {
  if (typeof step === "string") return typed("SelectionSpec", { name: step });
  const { name, type, path, then = [] } = step;
  return typed("TraversalSpec", { name, type, path, skip: "false", selectSet: then.map(traversalOf) });
}

/** The properties that are read of each type. */
export const hostProperties = [
  "name",
  "overallStatus",
  "runtime.connectionState",
  "runtime.powerState",
  "runtime.inMaintenanceMode",
  "runtime.bootTime",
  "summary.rebootRequired",
  "summary.config.product",
];
/** What tells of each host's maintenance mode alone: of a large cluster an answer of few kilobytes. */
export const modeProperties = ["runtime.inMaintenanceMode"];
export const clusterProperties = ["name", "overallStatus", "configurationEx"];
export const vmProperties = ["name", "runtime.host", "runtime.powerState"];

/** Tasks that change the power of a virtual machine, by the last part of their description. */
const powerTask = /(^|\.)(powerOn|powerOff|suspend)(VM)?$/i;

/** Tasks that change the settings of a cluster, likewise. */
const settingsTask = /(^|\.)reconfigure(Ex|Cluster)?$/i;

/** Whether a task changes the settings of a cluster. */
export function isReconfiguration({ descriptionId }: TaskInfo): boolean {
  return settingsTask.test(descriptionId);
}

/** Ids of the virtual machines whose power tasks are changing now. */
export function changingPower(tasks: readonly TaskInfo[]): ReadonlySet<string> {
  const open = tasks.filter((task) => !hasEnded(task) && powerTask.test(task.descriptionId));
  return new Set(open.flatMap(({ entity }) => entity?.id ?? []));
}

/** Makes what a component manager has answered into clusters, hosts, virtual machines and tasks. Throws DriverError. */
export function inventoryReader(managerId: string) {
  function decode<A>(what: string, codec: t.Decoder<unknown, A>, value: unknown): A {
    const decoded = codec.decode(value);
    if (isLeft(decoded)) {
      const path = decoded.left[0]?.context.map(({ key }) => key).filter((key) => key !== "" && !/^\d+$/.test(key));
      throw errorOfShape({ managerId, what }, path?.join(".") || "the answer");
    }
    return decoded.right;
  }

  function clusterOf(what: string, { object, properties }: Retrieved): Vim25Cluster {
    const { dasConfig, drsConfig, dpmConfigInfo } = decode(what, ClusterConfiguration, properties["configurationEx"]);
    const drs =
      drsConfig.enabled === undefined
        ? undefined
        : { enabled: drsConfig.enabled, automation: drsConfig.defaultVmBehavior ?? "" };
    return {
      cluster: object.id,
      name: decode(what, XmlName, properties["name"]),
      health: decode(what, XmlText, properties["overallStatus"] ?? "gray"),
      settings: {
        ...(dasConfig.admissionControlEnabled !== undefined && { admissionControl: dasConfig.admissionControlEnabled }),
        ...(dpmConfigInfo?.enabled !== undefined && { dpm: dpmConfigInfo.enabled }),
        ...(drs && { drs }),
      },
    };
  }

  function modeOf(what: string, { object, properties }: Retrieved, tasks: readonly TaskInfo[]): Vim25HostMode {
    const inMaintenanceMode = decode(what, XmlBoolean, properties["runtime.inMaintenanceMode"]);
    return { host: object.id, inMaintenanceMode, tasks };
  }

  function hostOf(what: string, { object, properties }: Retrieved, tasks: readonly TaskInfo[]): Vim25Host {
    const product = properties["summary.config.product"];
    const bootTime = properties["runtime.bootTime"];
    const vms = properties["vm"];
    return {
      ...modeOf(what, { object, properties }, tasks),
      name: decode(what, XmlName, properties["name"]),
      connection: decode(what, XmlText, properties["runtime.connectionState"]),
      power: decode(what, XmlText, properties["runtime.powerState"] ?? "unknown"),
      rebootRequired: decode(what, XmlBoolean, properties["summary.rebootRequired"] ?? "false"),
      health: decode(what, XmlText, properties["overallStatus"] ?? "gray"),
      ...(product !== undefined && { product: decode(what, Product, product) }),
      ...(bootTime !== undefined && { bootTime: decode(what, XmlText, bootTime) }),
      ...(vms !== undefined && { vmCount: listOf(fieldOf(vms, "ManagedObjectReference")).length }),
    };
  }

  function tasksOf(what: string, found: readonly Retrieved[]): TaskInfo[] {
    const tasks = found.filter(({ object }) => object.type === "Task");
    return tasks.map(({ properties }) => decode(what, TaskInfo, properties["info"]));
  }

  /** `changing`: ids of virtual machines whose power is being changed. */
  function vmOf(what: string, { object, properties }: Retrieved, changing: ReadonlySet<string>): Vim25Vm {
    return {
      vm: object.id,
      name: decode(what, XmlName, properties["name"] ?? object.id),
      host: decode(what, Reference, properties["runtime.host"]).id,
      power: decode(what, XmlText, properties["runtime.powerState"]),
      powerChanging: changing.has(object.id),
    };
  }

  return { decode, clusterOf, hostOf, modeOf, tasksOf, vmOf };
}
