import type * as t from "io-ts";
import { legible } from "../domain/legible";
import { PageOfBundle } from "../domain/spec/bundle";
import { PageOfCluster } from "../domain/spec/cluster";
import {
  PageOfIso,
  PageOfManagementServer,
  PageOfNetvirtInstance,
  PageOfPersonality,
} from "../domain/spec/installations";
import { PageOfTask, type Task } from "../domain/spec/task";
import { allPages, type PageOf } from "./all-pages";
import type { ApiClient, RequestOptions } from "./api-client";
import { type CliError, wrongUsage } from "./errors";
import { minute, plain, wordOf } from "./text";

/** How help texts describe the argument that names an upgrade. */
export const ofUpgrade = "the upgrade: its id or the beginning of it, its name, or one of its clusters";

/** Something that a command line can name: by its id, the beginning of that, or one of its names. */
export interface Named {
  readonly id: string;
  /** What people call it, the usual name first; bundles have versions too. */
  readonly names: readonly string[];
  /** What tells it from others of the same name. */
  readonly detail: string;
  /** Of two with the same name, the one that has not ended is meant. */
  readonly hasEnded?: boolean;
  /** How many hosts a cluster has, where that is known. */
  readonly hosts?: number;
  /** The products that a bundle brings. */
  readonly parts?: readonly string[];
}

/** What a kind of thing is called, where it is listed, and how a list's elements are named. */
interface Kind {
  readonly title: string;
  /** The command that lists all of them. */
  readonly command: string;
  readonly read: (client: ApiClient, options?: RequestOptions) => Promise<readonly Named[]>;
}

const kinds = {
  upgrade: { title: "upgrade", command: "list", read: readUpgrades },
  cluster: kind("cluster", "clusters", "/v1/clusters", PageOfCluster, ({ id, name, domain, hostCount }) => ({
    id,
    names: [name],
    detail: `in ${domain.name}`,
    ...(hostCount !== undefined && { hosts: hostCount }),
  })),
  bundle: kind("bundle", "bundles", "/v1/bundles", PageOfBundle, ({ id, version, description, components = [] }) => ({
    id,
    names: [version, description].flatMap((one) => one ?? []),
    detail: `${description ?? version ?? ""} (${components.map(({ type }) => type).join(", ")})`,
    parts: components.flatMap(({ type }) => type ?? []),
  })),
  server: kind("management server", "servers", "/v1/management-servers", PageOfManagementServer, named),
  netvirt: kind("NETVIRT instance", "netvirt", "/v1/netvirt", PageOfNetvirtInstance, named),
  personality: kind("personality", "personalities", "/v1/personalities", PageOfPersonality, named),
  iso: kind("ISO", "isos", "/v1/isos", PageOfIso, named),
} as const satisfies Record<string, Kind>;

/** The kinds of things that a command line can name. */
export type NamedKind = keyof typeof kinds;

/** What an upgrade can be an upgrade of. */
export const resourceKinds = ["cluster", "server", "netvirt"] as const satisfies readonly NamedKind[];

function named({ id, name, fqdn, version }: { id: string; name: string; fqdn?: string; version?: string }): Named {
  return { id, names: [name, ...(fqdn === undefined ? [] : [fqdn])], detail: version ?? fqdn ?? "" };
}

function kind<A>(
  title: string,
  command: string,
  path: string,
  codec: t.Decoder<unknown, PageOf<A>>,
  toNamed: (element: A) => Named,
): Kind {
  const read: Kind["read"] = async (client, options) => {
    const { elements = [] } = await client.request("GET", path, codec, options);
    return elements.map(toNamed);
  };
  return { title, command, read };
}

/** Upgrades by their Tasks, which know the names of their resources. */
async function readUpgrades(client: ApiClient, options?: RequestOptions): Promise<readonly Named[]> {
  const { elements } = await allPages((paging) =>
    client.request("GET", `/v1/tasks?${new URLSearchParams(paging).toString()}`, PageOfTask, options),
  );
  return elements.map(upgradeOf);
}

function upgradeOf({ id, name, status, resources = [], creationTimestamp, completionTimestamp }: Task): Named {
  return {
    id,
    names: [name, ...resources.flatMap((one) => one.name ?? [])],
    detail: `${name}, ${wordOf(status).toLowerCase()}, created ${minute(creationTimestamp)}`,
    hasEnded: completionTimestamp !== undefined,
  };
}

const wholeId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-prechecks-\d+)?$/i;
/** Fewer characters of an id are more likely a mistake. */
const beginningOfId = /^[0-9a-f][0-9a-f-]{3,}$/i;
const mostCandidates = 10;

/** Finds the ids of what a command line names. Each list is read once, and none for a whole id. */
export class Names {
  private readonly lists = new Map<NamedKind, Promise<readonly Named[]>>();
  constructor(private readonly client: ApiClient) {}

  /** The id of the one thing that is meant. Throws where it is none, and where it may be several, with these. */
  async idOf(kindOfThing: NamedKind, text: string): Promise<string> {
    if (wholeId.test(text)) return text;
    return (await this.find(kindOfThing, text)).id;
  }

  /** The one thing that is meant; `prefer` chooses among several of the same name. */
  async find(
    kindOfThing: NamedKind,
    text: string,
    prefer?: (several: readonly Named[]) => readonly Named[],
  ): Promise<Named> {
    const all = await this.all(kindOfThing);
    const matching = matchesOf(all, text);
    const open = matching.filter(({ hasEnded }) => hasEnded === false);
    const meant = open.length > 0 ? open : matching.length > 1 && prefer ? prefer(matching) : matching;
    const [one, ...others] = meant;
    if (one === undefined) throw unknown(kinds[kindOfThing], text, all);
    if (others.length > 0) throw ambiguous(kinds[kindOfThing], text, meant);
    return one;
  }

  /** The id of a cluster, a management server or a NETVIRT instance. */
  async resourceId(text: string): Promise<string> {
    if (wholeId.test(text)) return text;
    const lists = await Promise.all(resourceKinds.map((one) => this.all(one)));
    const kindOfThing = resourceKinds.find((_, i) => matchesOf(lists[i] ?? [], text).length > 0) ?? "cluster";
    return this.idOf(kindOfThing, text);
  }

  /** All things of a kind. */
  all(kindOfThing: NamedKind, options?: RequestOptions): Promise<readonly Named[]> {
    const known = this.lists.get(kindOfThing) ?? kinds[kindOfThing].read(this.client, options);
    this.lists.set(kindOfThing, known);
    return known;
  }
}

/** What a text names: by the whole id, else by a name, else by how an id begins. */
function matchesOf(all: readonly Named[], text: string): readonly Named[] {
  const wanted = text.toLowerCase();
  const ways: readonly ((one: Named) => boolean)[] = [
    ({ id }) => id.toLowerCase() === wanted,
    ({ names }) => names.some((name) => name.toLowerCase() === wanted),
    ({ id }) => beginningOfId.test(wanted) && id.toLowerCase().startsWith(wanted),
  ];
  return ways.map((way) => all.filter(way)).find((found) => found.length > 0) ?? [];
}

function unknown({ title, command }: Kind, text: string, all: readonly Named[]): CliError {
  const near = all.filter(({ names }) => names.some((name) => name.toLowerCase().includes(text.toLowerCase())));
  return wrongUsage(
    `There is no ${title} ${quoted(text)}${near.length > 0 ? ". Did you mean one of these?" : "."}`,
    `Give its name, its id, or at least the first four characters of its id; \`upgradectl ${command}\` lists them.`,
    { details: candidateLines(near) },
  );
}

function ambiguous({ title }: Kind, text: string, several: readonly Named[]): CliError {
  return wrongUsage(
    `${quoted(text)} matches ${several.length} of the kind ${title}:`,
    "Give the id of one of them, or its first characters.",
    { details: candidateLines(several) },
  );
}

function quoted(text: string): string {
  return JSON.stringify(legible(text));
}

function candidateLines(several: readonly Named[]): string[] {
  const left = several.length - mostCandidates;
  const lines = several
    .slice(0, mostCandidates)
    .map(
      ({ id, names: [name = ""], detail }) =>
        `${plain(id)}  ${legible(detail.includes(name) ? detail : `${name} ${detail}`.trim())}`,
    );
  return left > 0 ? [...lines, `… and ${left} more`] : lines;
}
