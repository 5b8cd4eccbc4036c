import { attribute, buildXml, listOf, parseXml, textOf, type XmlObject, type XmlValue } from "../../../src/xml";
import { bounded, type DriverError } from "../driver-error";
import {
  type Asked,
  type Classification,
  classifyStatus,
  commonClassifications,
  itsOwnWord,
  judged,
  notItsOwn,
} from "../error-classification";

/** A reference to a managed object, such as `HostSystem` `host-12`. */
export interface ManagedObject {
  readonly type: string;
  readonly id: string;
}

/** A fault as the product names it: its vim25 type, its text for people, and its own fields. */
export interface SoapFault {
  /** Such as `InvalidLogin`; empty where the fault has none. */
  readonly type: string;
  readonly message: string;
  readonly detail: XmlObject;
}

/** What came back for a call. */
export type SoapAnswer =
  | { readonly _tag: "Returned"; readonly value: XmlValue | undefined; readonly all: readonly XmlValue[] }
  | { readonly _tag: "Fault"; readonly fault: SoapFault }
  | { readonly _tag: "NotSoap"; readonly problem: string };

/** The service instance: the one object whose reference is known beforehand. */
export const serviceInstance: ManagedObject = { type: "ServiceInstance", id: "ServiceInstance" };

/** A reference as an element of a request. */
export function referenceTo({ type, id }: ManagedObject): XmlObject {
  return { [attribute("type")]: type, [textOf]: id };
}

/** A value whose declared type is more general than its own, which has to be told. */
export function typed(type: string, fields: XmlObject): XmlObject {
  return { [attribute("xsi:type")]: type, ...fields };
}

/** The request of one method. `args` are the method's parameters in the order of the vendor's schema. */
export function envelopeOf(self: ManagedObject, method: string, args: XmlObject): string {
  const envelope = {
    "soapenv:Envelope": {
      [attribute("xmlns:soapenv")]: "http://schemas.xmlsoap.org/soap/envelope/",
      [attribute("xmlns:xsi")]: "http://www.w3.org/2001/XMLSchema-instance",
      [attribute("xmlns:xsd")]: "http://www.w3.org/2001/XMLSchema",
      "soapenv:Body": {
        [method]: { [attribute("xmlns")]: "urn:vim25", _this: referenceTo(self), ...args },
      },
    },
  };
  return `<?xml version="1.0" encoding="UTF-8"?>${buildXml(envelope)}`;
}

/** Reads the answer to a method. */
export function answerOf(method: string, text: string): SoapAnswer {
  let document: XmlObject;
  try {
    document = parseXml(text);
  } catch {
    return { _tag: "NotSoap", problem: "no well-formed XML" };
  }
  const body = fieldOf(fieldOf(document, "Envelope"), "Body");
  if (body === undefined) return { _tag: "NotSoap", problem: "no SOAP envelope" };
  const fault = fieldOf(body, "Fault");
  if (fault !== undefined) return { _tag: "Fault", fault: faultOf(fault) };
  const response = fieldOf(body, `${method}Response`);
  if (response === undefined) return { _tag: "NotSoap", problem: `no ${method}Response` };
  const all = listOf(fieldOf(response, "returnval")) as readonly XmlValue[];
  return { _tag: "Returned", value: all[0], all };
}

/** A `LocalizedMethodFault`, as tasks and missing properties carry it. */
export function localizedFault(value: XmlValue | undefined): SoapFault {
  const detail = fieldOf(value, "fault");
  const message = textIn(fieldOf(value, "localizedMessage"));
  const fields = isObject(detail) ? detail : {};
  return { type: typeOf(fields) ?? "", message: message || faultMessages(fields)[0] || "", detail: fields };
}

/** A field of an element; undefined where there is none, or the element is a mere text. */
export function fieldOf(value: XmlValue | undefined, name: string): XmlValue | undefined {
  return isObject(value) ? value[name] : undefined;
}

/** The text of an element, whether or not it has attributes; empty where there is none. */
export function textIn(value: XmlValue | undefined): string {
  if (typeof value === "string") return value;
  const text = fieldOf(value, textOf);
  return typeof text === "string" ? text : "";
}

/** The schema type of an element without its prefix. The attribute has a prefix too, and not always the same one. */
export function typeOf(value: XmlValue | undefined): string | undefined {
  if (!isObject(value)) return undefined;
  const [, type] = Object.entries(value).find(([name]) => /^@[^:]+:type$/.test(name)) ?? [];
  return typeof type === "string" ? type.replace(/^[^:]*:/, "") : undefined;
}

/** Texts that a fault carries beside its own: `faultMessage` of vim25. */
function faultMessages(detail: XmlObject): string[] {
  return listOf(detail["faultMessage"])
    .map((message) => textIn(fieldOf(message as XmlValue, "message")))
    .filter((message) => message !== "");
}

function faultOf(fault: XmlValue): SoapFault {
  const detail = fieldOf(fault, "detail");
  const [name, content] = isObject(detail) ? (Object.entries(detail).find(([key]) => !key.startsWith("@")) ?? []) : [];
  const fields = isObject(content) ? content : {};
  const type = typeOf(content) ?? name?.replace(/Fault$/, "") ?? "";
  return { type, message: textIn(fieldOf(fault, "faultstring")) || faultMessages(fields)[0] || type, detail: fields };
}

function isObject(value: XmlValue | undefined): value is XmlObject {
  return typeof value === "object" && !Array.isArray(value);
}

const common = commonClassifications("component manager");

const busy: Classification = {
  kind: "transient",
  code: "CLUSTER_BUSY",
  remediation: "Wait for the other operation on the cluster to end, or cancel it there, then retry the upgrade.",
};

const away: Classification = {
  kind: "transient",
  code: "HOST_NOT_CONNECTED",
  remediation: "Bring the host back into the cluster, then retry the upgrade.",
};

/** The manager's own services are starting or are cut off from each other. */
const hostUnheard: Classification = {
  ...common.unreachable,
  remediation: "Check that the component manager is running and reaches its hosts, then retry the upgrade.",
};

const byFault: Readonly<Record<string, Classification>> = {
  InvalidLogin: common.credentials,
  NotAuthenticated: common.credentials,
  NoPermission: {
    ...common.unauthorized,
    inWork: "AWAY",
    remediation:
      "Give the service's user the privileges for host maintenance, patches and power in the component manager, then retry the upgrade.",
  },
  ManagedObjectNotFound: {
    kind: "permanent",
    code: "RESOURCE_NOT_FOUND",
    remediation:
      "Check that everything that the inventory names exists in the component manager, then retry the upgrade.",
  },
  TaskInProgress: busy,
  ConcurrentAccess: busy,
  ResourceInUse: busy,
  HostNotConnected: away,
  HostNotReachable: away,
  HostCommunication: hostUnheard,
  HostConnectFault: hostUnheard,
  DatabaseError: common.broken,
  RequestCanceled: common.broken,
  RuntimeFault: common.broken,
  SystemError: common.broken,
  UnexpectedFault: common.broken,
  "": common.broken,
};

/**
 * What a fault of this type says about the request. A change that is refused is refused for good: an account that may read
 * need not be allowed to change. A read worked before, so a manager that refuses it is unwell.
 */
function classificationOf({ changes = false }: Asked, type: string): Classification {
  const classification = byFault[type] ?? (changes ? common.refused : notItsOwn(common.refused));
  return type === "NoPermission" && changes ? itsOwnWord(classification) : classification;
}

/** Judges a fault by its type. A state that is what was asked for already counts as done. */
export function errorOfFault(asked: Asked, fault: SoapFault, status?: number): DriverError {
  const classification = isAsAsked(fault)
    ? { kind: "alreadyDone" as const, code: "ALREADY_IN_DESIRED_STATE", remediation: "No action required." }
    : classificationOf(asked, fault.type);
  return judged(asked, classification, {
    answer: fault.type || "a fault",
    status,
    ...(fault.type !== "" && { errorType: bounded(fault.type, 80) }),
    causes: reasonsOfFault(fault),
  });
}

/** Judges an answer that is no SOAP at all: the manager's front answered for it. */
export function errorOfStatus(asked: Asked, status: number): DriverError {
  return judged(asked, notItsOwn(classifyStatus(common, status)), { answer: `${status}`, status });
}

/** The product's words for a fault, the most telling first. */
export function reasonsOfFault({ type, message, detail }: SoapFault): string[] {
  const said = [message, ...faultMessages(detail)].filter((text) => text !== "" && text !== type);
  return [...new Set(said)];
}

function isAsAsked({ type, detail }: SoapFault): boolean {
  const requested = textIn(fieldOf(detail, "requestedState"));
  return type === "InvalidPowerState" && requested !== "" && requested === textIn(fieldOf(detail, "existingState"));
}
