import { buildXml, parseXml, type XmlItem, type XmlObject } from "../../xml";
import type { Value } from "./values";
import type { MethodFault } from "./vim25-state";

/** A method call. `parameters` are the elements of the request. */
export interface SoapRequest {
  readonly method: string;
  readonly self: { readonly type: string; readonly id: string };
  readonly parameters: XmlItem;
}

/** Reads a request; throws a fault where it is none. */
export function readRequest(body: string): SoapRequest {
  let document: XmlObject;
  try {
    document = parseXml(body);
  } catch {
    throw methodFault("InvalidRequest", "The request is no well-formed XML.");
  }
  const content = child(child(document, "Envelope"), "Body");
  const [method, parameters] = Object.entries(typeof content === "object" ? content : {}).find(
    ([key]) => !key.startsWith("@"),
  ) ?? [""];
  if (method === "" || parameters === undefined || Array.isArray(parameters))
    throw methodFault("InvalidRequest", "The request has no method in the body of a SOAP envelope.");
  const single = parameters as XmlItem;
  const self = referenceOf(child(single, "_this"));
  if (!self) throw methodFault("InvalidRequest", `${method} does not say on which object (_this).`);
  return { method, self, parameters: single };
}

/** The one child of a name; undefined where there is none or more. */
export function child(element: XmlItem | undefined, name: string): XmlItem | undefined {
  const found = typeof element === "object" ? element[name] : undefined;
  return Array.isArray(found) ? undefined : (found as XmlItem | undefined);
}

/** All children of a name. */
export function children(element: XmlItem | undefined, name: string): readonly XmlItem[] {
  const found = typeof element === "object" ? element[name] : undefined;
  if (found === undefined) return [];
  return Array.isArray(found) ? (found as readonly XmlItem[]) : [found as XmlItem];
}

/** The text of an element; undefined where there is no element. */
export function textOf(element: XmlItem | undefined): string | undefined {
  if (typeof element === "string") return element;
  const text = element?.["#text"];
  return typeof text === "string" ? text : element && "";
}

/** A boolean parameter; undefined where it is absent. */
export function booleanOf(element: XmlItem | undefined): boolean | undefined {
  const value = textOf(element);
  if (value === undefined) return undefined;
  if (!["true", "false", "0", "1"].includes(value)) throw methodFault("InvalidRequest", `${value} is no boolean.`);
  return value === "true" || value === "1";
}

/** The schema type that an element tells of itself, without prefix. */
export function schemaTypeOf(element: XmlItem | undefined): string | undefined {
  if (typeof element !== "object") return undefined;
  const [, type] = Object.entries(element).find(([key]) => /^@[^:]+:type$/.test(key)) ?? [];
  return typeof type === "string" ? type.replace(/^[^:]*:/, "") : undefined;
}

/** A reference to a managed object. */
export function referenceOf(element: XmlItem | undefined): { type: string; id: string } | undefined {
  const type = typeof element === "object" ? element["@type"] : undefined;
  const id = textOf(element);
  return typeof type === "string" && id ? { type, id } : undefined;
}

/** The answer of a method that returned something, or nothing. */
export function returned(method: string, value?: XmlItem | readonly XmlItem[]): string {
  return envelope({
    [`${method}Response`]: { "@xmlns": "urn:vim25", ...(value !== undefined && { returnval: value }) },
  });
}

/** The answer of a method that could not do its work. */
export function faulted({ type, message, fields }: MethodFault): string {
  const code = type === "InvalidRequest" ? "ClientFaultCode" : "ServerFaultCode";
  const detail = { [`${type}Fault`]: { "@xmlns": "urn:vim25", "@xsi:type": type, ...fields } };
  return envelope({ "soapenv:Fault": { faultcode: code, faultstring: message, detail } });
}

/** A fault as part of a task or of a missing property. */
export function localizedFault({ type, message, fields = {} }: MethodFault): Value {
  const own = Object.entries(fields).map(
    ([field, value]) => [field, { is: "text", type: "xsd:string", text: value }] as const,
  );
  return {
    is: "object",
    type: "LocalizedMethodFault",
    fields: {
      fault: { is: "object", type, fields: Object.fromEntries(own) },
      localizedMessage: { is: "text", type: "xsd:string", text: message },
    },
  };
}

function envelope(body: XmlItem): string {
  const document = {
    "soapenv:Envelope": {
      "@xmlns:soapenv": "http://schemas.xmlsoap.org/soap/envelope/",
      "@xmlns:xsd": "http://www.w3.org/2001/XMLSchema",
      "@xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
      "soapenv:Body": body,
    },
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${buildXml(document)}`;
}

/** A fault with which a method answers instead of doing its work. */
export class MethodFaultError extends Error {
  override readonly name = "MethodFaultError";
  constructor(readonly fault: MethodFault) {
    super(fault.message);
  }
}

/** `type` is a fault of the vendor's schema; `fields` are its own. */
export function methodFault(type: string, message: string, fields?: Record<string, string>): MethodFaultError {
  return new MethodFaultError({ type, message, ...(fields && { fields }) });
}
