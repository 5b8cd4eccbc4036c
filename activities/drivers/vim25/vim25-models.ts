import * as t from "io-ts";
import { attribute, listOf, type XmlValue } from "../../../src/xml";
import { legible } from "../../../src/domain/legible";
import { fieldOf, localizedFault, type ManagedObject, reasonsOfFault, type SoapFault, textIn } from "./soap";

// Only the fields that are used: what else an answer holds may change between product versions without harm. States
// stay strings, because an unknown one must read as "not finished" and never as an answer that is not understood.

/** A codec of what an element means; `read` gives undefined where the element is something else. */
function element<A>(name: string, read: (value: XmlValue) => A | undefined): t.Type<A, unknown> {
  return new t.Type<A, unknown>(
    name,
    (u): u is A => u !== undefined,
    (u, c) => {
      const value = u === undefined ? undefined : read(u as XmlValue);
      return value === undefined ? t.failure(u, c) : t.success(value);
    },
    t.identity,
  );
}

export const XmlText = element("text", (value) => textIn(value));
/** A name that people have given. */
export const XmlName = element("name", (value) => legible(textIn(value)));
export const XmlBoolean = element("boolean", (value) => {
  const text = textIn(value);
  return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : undefined;
});
const XmlInteger = element("integer", (value) => (/^-?\d+$/.test(textIn(value)) ? Number(textIn(value)) : undefined));
const Fault = element<SoapFault>("fault", (value) => (fieldOf(value, "fault") ? localizedFault(value) : undefined));

/** A reference to a managed object. */
export const Reference = element<ManagedObject>("reference", (value) => {
  const type = fieldOf(value, attribute("type"));
  const id = textIn(value);
  return typeof type === "string" && id !== "" ? { type, id } : undefined;
});

/** The manager's root objects, and which version of the interface it speaks. */
export const ServiceContent = t.type({
  rootFolder: Reference,
  propertyCollector: Reference,
  sessionManager: Reference,
  about: t.type({ apiVersion: XmlText, fullName: XmlText }),
});
export type ServiceContent = t.TypeOf<typeof ServiceContent>;

/** The version of a host: `version` such as `9.0.1`, `build` such as `24957456`. */
export const Product = t.exact(t.type({ version: XmlText, build: XmlText }));
export type Product = t.TypeOf<typeof Product>;

/**
 * A task. `state` queued, running, success or error; `descriptionId` such as `HostSystem.enterMaintenanceMode`;
 * `progress` in percent while it runs; `queueTime` by the manager's clock.
 */
export const TaskInfo = t.exact(
  t.intersection([
    t.type({ key: XmlText, state: XmlText, descriptionId: XmlText, cancelable: XmlBoolean, queueTime: XmlText }),
    t.partial({ progress: XmlInteger, error: Fault, entity: Reference, cancelled: XmlBoolean }),
  ]),
);
export type TaskInfo = t.TypeOf<typeof TaskInfo>;

/** Faults of a task where the manager has lost touch with a host (`HostCommunication` and its subtypes), or failed itself. */
const passingFaults: ReadonlySet<string> = new Set([
  "HostCommunication",
  "HostNotConnected",
  "HostNotReachable",
  "HostConnectFault",
  "RuntimeFault",
]);

/**
 * Whether a task's end says nothing about its outcome, which then has to be looked up. The manager has ended the task itself,
 * as when its service restarts (nobody has asked for its cancellation), or has lost touch with the host.
 */
export function endedByOutage({ error, cancelled }: TaskInfo): boolean {
  if (!error) return false;
  return passingFaults.has(error.type) || (error.type === "RequestCanceled" && cancelled !== true);
}

/** Whether a task has ended, well or not. */
export function hasEnded({ state }: TaskInfo): boolean {
  return state === "success" || state === "error";
}

/** An element of which every field may be absent; one without any is an empty text. */
function fields<P extends t.Props>(props: P): t.Type<t.TypeOfPartialProps<P>, unknown, unknown> {
  const partial = t.partial(props);
  return new t.Type<t.TypeOfPartialProps<P>, unknown>(
    "fields",
    (u): u is t.TypeOfPartialProps<P> => partial.is(u),
    (u, c) => partial.validate(typeof u === "string" ? {} : u, c),
    t.identity,
  );
}

/** Configuration of a cluster, as far as an upgrade reads or changes it. */
export const ClusterConfiguration = t.intersection([
  t.type({
    dasConfig: fields({ enabled: XmlBoolean, admissionControlEnabled: XmlBoolean }),
    drsConfig: fields({ enabled: XmlBoolean, defaultVmBehavior: XmlText }),
  }),
  t.partial({ dpmConfigInfo: fields({ enabled: XmlBoolean }) }),
]);

/** What a host's certificate says, as far as it is used. */
export const HostCertificate = fields({ notAfter: XmlText });

/** The certificate of a host; `expiresAt` is a timestamp. */
export interface HostCertificateEnd {
  readonly host: string;
  readonly expiresAt: string;
}

/** Which hosts of a cluster could be empty at the same time. */
export interface Evacuation {
  readonly hosts: readonly string[];
  /** What keeps hosts from being emptied; `vm` where it is about one virtual machine. */
  readonly obstacles: readonly { readonly vm?: string; readonly reasons: readonly string[] }[];
}

/** The `ClusterEnterMaintenanceResult`: a recommendation for each host, with a maintenance action among its actions. */
export const EvacuationResult = element<Evacuation>("evacuation", (value) => ({
  hosts: elementsIn(value, "recommendations").flatMap((recommendation) =>
    elementsIn(recommendation, "action").flatMap((action) => {
      const target = Reference.decode(fieldOf(action, "target"));
      const isMaintenance = textIn(fieldOf(action, "type")) === "HostMaintenanceV1";
      return isMaintenance && target._tag === "Right" ? [target.right.id] : [];
    }),
  ),
  obstacles: elementsIn(fieldOf(value, "fault"), "faultsByVm").map((faults) => {
    const vm = textIn(fieldOf(faults, "vm"));
    const reasons = elementsIn(faults, "fault").flatMap((fault) => reasonsOfFault(localizedFault(fault)));
    return { ...(vm !== "" && { vm }), reasons };
  }),
}));

function elementsIn(value: XmlValue | undefined, name: string): readonly XmlValue[] {
  return listOf(fieldOf(value, name));
}

/** A cluster as the manager lists it. */
export interface Vim25Cluster {
  readonly cluster: string;
  readonly name: string;
  /** gray, green, yellow or red. */
  readonly health: string;
  readonly settings: ClusterSettings;
}

/** Settings of a cluster that an upgrade may switch; absent where the cluster does not have them. */
export interface ClusterSettings {
  /** Whether HA refuses what would leave too little capacity for a failover. */
  readonly admissionControl?: boolean;
  /** Distributed power management. */
  readonly dpm?: boolean;
  /** Whether virtual machines are moved without anybody's consent. */
  readonly drs?: { readonly enabled: boolean; readonly automation: string };
}

/** A host's maintenance mode at one moment, and what is being done to the host. */
export interface Vim25HostMode {
  readonly host: string;
  readonly inMaintenanceMode: boolean;
  /** Its recent tasks; the manager drops a task some ten minutes after its end. */
  readonly tasks: readonly TaskInfo[];
}

/** A host as the manager sees it at one moment. */
export interface Vim25Host extends Vim25HostMode {
  readonly name: string;
  /** connected, disconnected or notResponding. */
  readonly connection: string;
  /** poweredOn, poweredOff, standBy or unknown. */
  readonly power: string;
  readonly product?: Product;
  /** Whether something was installed that a restart has to bring into force. */
  readonly rebootRequired: boolean;
  /** When it last started, by its own clock; absent while that is not known. */
  readonly bootTime?: string;
  /** gray, green, yellow or red. */
  readonly health: string;
  /** How many virtual machines are registered on it; of a single host only. */
  readonly vmCount?: number;
}

/** A virtual machine; `power` is poweredOn, poweredOff or suspended. */
export interface Vim25Vm {
  readonly vm: string;
  readonly name: string;
  readonly host: string;
  readonly power: string;
  /** Whether a task is at changing that. */
  readonly powerChanging: boolean;
}
