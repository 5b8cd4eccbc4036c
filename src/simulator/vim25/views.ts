import { randomUUID } from "node:crypto";
import type { World } from "../state/world";
import type { XmlItem } from "../../xml";
import { findObject, type ManagedObject } from "./managed-objects";
import { list, reference, type Value } from "./values";

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
  find(world: World, token: string, id: string): ManagedObject | undefined {
    const view = this.of(token).views.get(id);
    if (!view) return undefined;
    const wanted = (type: string) =>
      view.types.length === 0 || view.types.some((of) => of === type || of === "ManagedEntity");
    const shown = descendants(world, view.container).filter(({ type }) => wanted(type));
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

function descendants(world: World, { type, id }: View["container"]): readonly { type: string; id: string }[] {
  const properties = findObject(world, type, id)?.properties ?? {};
  const children = inside.flatMap((name) => referencesIn(properties[name]?.()));
  return children.flatMap((child) => [child, ...descendants(world, child)]);
}

function referencesIn(value: Value | undefined): readonly { type: string; id: string }[] {
  if (value?.is === "reference") return [{ type: value.type, id: value.id }];
  return value?.is === "list" ? value.items.flatMap(referencesIn) : [];
}
