import { randomUUID } from "node:crypto";
import type { XmlItem } from "../../xml";
import type { ManagedObject } from "./managed-objects";
import { booleanOf, child, children, methodFault, referenceOf, schemaTypeOf, textOf } from "./soap";
import { anyOf, referencesIn, type Value } from "./values";

/** How objects are found. */
type FindObject = (type: string, id: string) => ManagedObject | undefined;

/** Types that a more general one of a filter means as well. */
const specializations: Readonly<Record<string, readonly string[]>> = {
  ManagedEntity: ["Folder", "Datacenter", "ClusterComputeResource", "HostSystem", "VirtualMachine"],
  ComputeResource: ["ClusterComputeResource"],
};

const matches = (wanted: string, type: string) => wanted === type || (specializations[wanted]?.includes(type) ?? false);

/**
 * The objects that a `PropertyFilterSpec` selects, each as an `ObjectContent`. Knows TraversalSpecs with nested and
 * named ones, nested property paths and `all`. Throws ManagedObjectNotFound and InvalidProperty as the product does.
 */
export function selectObjects(find: FindObject, spec: XmlItem): XmlItem[] {
  const propSets = children(spec, "propSet");
  const selected = children(spec, "objectSet").flatMap((objectSet) => objectsOf(find, objectSet));
  const once = new Map(selected.map((object) => [`${object.type}:${object.id}`, object]));
  return [...once.values()].flatMap((object) => {
    const fitting = propSets.filter((propSet) => matches(textOf(child(propSet, "type")) ?? "", object.type));
    return fitting.length === 0 ? [] : [contentOf(object, fitting)];
  });
}

/** The value at a path of an object; undefined where it is not set. Throws InvalidProperty where there is no such path. */
export function propertyAt({ type, properties }: ManagedObject, path: string): Value | undefined {
  const invalid = () =>
    methodFault("InvalidProperty", `The simulator's ${type} has no property ${path}.`, { name: path });
  const [first = "", ...steps] = path.split(".");
  const property = Object.hasOwn(properties, first) ? properties[first] : undefined;
  if (!property) throw invalid();
  let value = property();
  for (const step of steps) {
    if (value === undefined) return undefined;
    if (value.is !== "object" || !(step in value.fields)) throw invalid();
    value = value.fields[step];
  }
  return value;
}

function contentOf(object: ManagedObject, propSets: readonly XmlItem[]): XmlItem {
  const all = propSets.some((propSet) => booleanOf(child(propSet, "all")));
  const named = propSets.flatMap((propSet) => children(propSet, "pathSet").map((path) => textOf(path) ?? ""));
  const paths = all ? Object.keys(object.properties) : [...new Set(named)];
  const propSet = paths.flatMap((path) => {
    const value = propertyAt(object, path);
    return value === undefined ? [] : [{ name: path, val: anyOf(value) }];
  });
  return { obj: { "@type": object.type, "#text": object.id }, ...(propSet.length > 0 && { propSet }) };
}

function objectsOf(find: FindObject, objectSet: XmlItem): ManagedObject[] {
  const from = referenceOf(child(objectSet, "obj"));
  if (!from) throw methodFault("InvalidArgument", "An objectSet has no obj.", { invalidProperty: "objectSet" });
  const root = find(from.type, from.id);
  if (!root) throw notFound(from);
  const specs = new Map<string, XmlItem>();
  const collect = (selections: readonly XmlItem[]) => {
    for (const selection of selections) {
      const name = textOf(child(selection, "name"));
      if (schemaTypeOf(selection) === "TraversalSpec" && name) specs.set(name, selection);
      collect(children(selection, "selectSet"));
    }
  };
  const first = children(objectSet, "selectSet");
  collect(first);

  const found: ManagedObject[] = booleanOf(child(objectSet, "skip")) ? [] : [root];
  const walked = new Set<string>();
  const walk = (object: ManagedObject, selections: readonly XmlItem[]): void => {
    for (const selection of selections) {
      const spec =
        schemaTypeOf(selection) === "TraversalSpec" ? selection : specs.get(textOf(child(selection, "name")) ?? "");
      if (!spec)
        throw methodFault("InvalidArgument", "A SelectionSpec names no TraversalSpec.", { invalidProperty: "name" });
      const path = textOf(child(spec, "path")) ?? "";
      const key = `${object.type}:${object.id} ${textOf(child(spec, "type"))}.${path}`;
      if (!matches(textOf(child(spec, "type")) ?? "", object.type) || walked.has(key)) continue;
      walked.add(key);
      for (const { type, id } of referencesIn(propertyAt(object, path))) {
        const next = find(type, id);
        if (!next) continue;
        if (!booleanOf(child(spec, "skip"))) found.push(next);
        walk(next, children(spec, "selectSet"));
      }
    }
  };
  walk(root, first);
  return found;
}

export function notFound({ type, id }: { readonly type: string; readonly id: string }) {
  return methodFault(
    "ManagedObjectNotFound",
    `The object '${type}:${id}' has already been deleted or has not been completely created`,
  );
}

interface Filter {
  readonly spec: XmlItem;
  /** Properties of each object as they were last told, by its key. */
  seen: Map<string, Shown>;
}

interface Shown {
  readonly reference: XmlItem;
  readonly properties: ReadonlyMap<string, { readonly value: XmlItem; readonly text: string }>;
}

interface OfSession {
  readonly filters: Map<string, Filter>;
  version: number;
}

/** What clients wait for by the property collector, instead of reading again: the filters of each session. */
export class PropertyFilters {
  private readonly sessions = new Map<string, OfSession>();

  private of(token: string): OfSession {
    const known = this.sessions.get(token) ?? { filters: new Map<string, Filter>(), version: 0 };
    this.sessions.set(token, known);
    return known;
  }

  drop(token: string): void {
    this.sessions.delete(token);
  }

  /** Keeps a `PropertyFilterSpec`; gives the id of its filter. Throws where it names what does not exist. */
  create(token: string, spec: XmlItem, find: FindObject): string {
    selectObjects(find, spec);
    const id = `filter-${randomUUID().slice(0, 8)}`;
    this.of(token).filters.set(id, { spec, seen: new Map() });
    return id;
  }

  /** False where there is no such filter. */
  destroy(token: string, id: string): boolean {
    return this.of(token).filters.delete(id);
  }

  /** All that has changed since the last time, as an `UpdateSet`; without a version all there is. Undefined where nothing has. */
  updates(token: string, version: string | undefined, find: FindObject): XmlItem | undefined {
    const session = this.of(token);
    const filterSet = [...session.filters].flatMap(([id, filter]) => {
      if (!version) filter.seen = new Map();
      const objectSet = changesOf(filter, find);
      return objectSet.length === 0 ? [] : [{ filter: { "@type": "PropertyFilter", "#text": id }, objectSet }];
    });
    if (filterSet.length === 0) return undefined;
    return { version: String(++session.version), filterSet };
  }
}

function changesOf(filter: Filter, find: FindObject): XmlItem[] {
  const before = filter.seen;
  const now = new Map(selectObjects(find, filter.spec).map((content) => shown(content)));
  filter.seen = now;
  const changed = [...now].flatMap(([key, { reference, properties }]): XmlItem[] => {
    const known = before.get(key);
    const changeSet = [...properties]
      .filter(([name, { text }]) => known?.properties.get(name)?.text !== text)
      .map(([name, { value }]) => ({ name, op: "assign", val: value }));
    if (known && changeSet.length === 0) return [];
    return [{ kind: known ? "modify" : "enter", obj: reference, ...(changeSet.length > 0 && { changeSet }) }];
  });
  const gone = [...before].flatMap(([key, { reference }]) => (now.has(key) ? [] : [{ kind: "leave", obj: reference }]));
  return [...changed, ...gone];
}

function shown(content: XmlItem): [string, Shown] {
  const { obj, propSet = [] } = content as { obj: XmlItem; propSet?: readonly { name: string; val: XmlItem }[] };
  const properties = propSet.map(({ name, val }) => [name, { value: val, text: JSON.stringify(val) }] as const);
  return [JSON.stringify(obj), { reference: obj, properties: new Map(properties) }];
}
