import { isRight } from "fp-ts/Either";
import { errorOfFault } from "./classify-fault";
import { fieldOf, localizedFault, type ManagedObject, referenceTo, type SoapFault, textIn, typed } from "./soap";
import type { Vim25Http } from "./vim25-http";
import { Reference } from "./vim25-models";
import { listOf, type XmlObject, type XmlValue } from "../../../src/xml";

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
