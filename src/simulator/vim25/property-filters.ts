import type { XmlItem } from "../../xml";
import { randomUUID } from "node:crypto";
import { type FindObject, selectObjects } from "./property-collector";

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
