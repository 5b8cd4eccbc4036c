import type * as t from "io-ts";
import { PageOfActivity } from "../domain/activity/upgrade-activity";
import { largestPage, type PageMetadata } from "../domain/page";
import { Bundle, PageOfBundle } from "../domain/spec/bundle";
import { Cluster, PageOfCluster } from "../domain/spec/cluster";
import {
  PageOfIso,
  PageOfManagementServer,
  PageOfNetvirtInstance,
  PageOfPersonality,
} from "../domain/spec/installations";
import { PageOfTask, Task } from "../domain/spec/task";
import { PageOfUpgrade, Upgrade } from "../domain/spec/upgrade";
import type { AddCommand, CommandContext } from "./command-context";
import { exitCode, type ExitCode } from "./errors";
import { activityView } from "./activity-view";
import {
  bundlesTable,
  clustersTable,
  clusterView,
  nameableTable,
  netvirtTable,
  upgradesTable,
  upgradeView,
} from "./views";
import { watch } from "./watch";

interface ListOptions {
  readonly status?: string;
  readonly bundle?: string;
  readonly cluster?: string;
}

/** `list`, `get`, `activity`, `watch`, `bundles`, `clusters` and the lists of what else a request can name. */
export function addReadCommands(add: AddCommand): void {
  add("list", "List upgrades", ["upgradectl list --status INPROGRESS", "upgradectl list -o json"])
    .option("--status <status>", "only with this status, such as DRAFT or INPROGRESS")
    .option("--bundle <id>", "only to this bundle")
    .option("--cluster <id>", "only of this cluster")
    .action(add.run(list));
  add("get", "Show one upgrade and all of its parts", ["upgradectl get ID", "upgradectl get ID -o json"])
    .argument("<id>", "the id that `start` has printed")
    .action(add.runWithId(get));
  add("activity", "Show who asked what of an upgrade, and what happened to it", [
    "upgradectl activity ID",
    "upgradectl activity ID -o json",
  ])
    .argument("<id>", "the id that `start` has printed")
    .action(add.runWithId(activity));
  add("watch", "Follow an upgrade to its end", ["upgradectl watch ID", "upgradectl watch ID -o json | tail -n 1"])
    .argument("<id>", "the id that `start` has printed")
    .action(add.runWithId(watch));
  add("bundles", "List what there is to upgrade to, or show one bundle", ["upgradectl bundles"])
    .argument("[id]", "one bundle")
    .action(add.runWithOptionalId(bundles));
  add("clusters", "List what can be upgraded, or show one cluster with its hosts", ["upgradectl clusters"])
    .argument("[id]", "one cluster")
    .action(add.runWithOptionalId(clusters));
  add("netvirt", "List NETVIRT instances with their host and edge clusters", ["upgradectl netvirt"]).action(
    add.run(async (context) => {
      const page = await context.client.request("GET", "/v1/netvirt", PageOfNetvirtInstance);
      context.print(page, () => netvirtTable(page.elements ?? [], context.columns));
      return exitCode.successful;
    }),
  );
  addNameable(add, "servers", "management servers", "/v1/management-servers", PageOfManagementServer);
  addNameable(add, "personalities", "images for image-managed clusters", "/v1/personalities", PageOfPersonality);
  addNameable(add, "isos", "ISOs for baseline-managed clusters", "/v1/isos", PageOfIso);
}

interface Nameable {
  readonly id: string;
  readonly name: string;
  readonly version?: string;
}

/** A list of what a request can name beside clusters. */
function addNameable<A extends { readonly elements?: readonly Nameable[] }>(
  add: AddCommand,
  name: string,
  title: string,
  path: string,
  codec: t.Type<A, unknown, unknown>,
): void {
  add(name, `List ${title}`, [`upgradectl ${name}`]).action(
    add.run(async (context) => {
      const page = await context.client.request("GET", path, codec);
      context.print(page, () => nameableTable(page.elements ?? [], context.columns));
      return exitCode.successful;
    }),
  );
}

async function list(context: CommandContext, { status, bundle, cluster }: ListOptions): Promise<ExitCode> {
  const { client } = context;
  const ofCluster = { ...(cluster !== undefined && { resourceId: cluster }) };
  const filter = {
    ...(status !== undefined && { status }),
    ...(bundle !== undefined && { bundleId: bundle }),
    ...ofCluster,
  };
  const { elements, total } = await allPages((paging) =>
    client.request("GET", `/v1/upgrades?${new URLSearchParams({ ...filter, ...paging }).toString()}`, PageOfUpgrade),
  );
  if (context.isJson) context.printJson({ elements });
  else {
    const tasks = await tasksOf(context, elements, ofCluster);
    context.print(elements, () => upgradesTable(elements, tasks, context.style, context.columns));
  }
  if (elements.length === 0) context.say("There are none.");
  if (total > elements.length)
    context.say(`${total - elements.length} more are there, but the service could not read them; its log tells which.`);
  return exitCode.successful;
}

/** The Tasks of some upgrades, which know their names and times. */
async function tasksOf(
  { client }: CommandContext,
  upgrades: readonly Upgrade[],
  filter: Readonly<Record<string, string>>,
): Promise<readonly Task[]> {
  if (upgrades.length === 0) return [];
  const { elements } = await allPages(
    (paging) =>
      client.request("GET", `/v1/tasks?${new URLSearchParams({ ...filter, ...paging }).toString()}`, PageOfTask),
    (found) => upgrades.every(({ id }) => found.has(id)),
  );
  return elements;
}

async function get(context: CommandContext, id: string): Promise<ExitCode> {
  const upgrade = await context.client.request("GET", `/v1/upgrades/${encodeURIComponent(id)}`, Upgrade);
  const task = await context.client.request("GET", `/v1/tasks/${encodeURIComponent(id)}`, Task);
  context.print({ upgrade, task }, () => upgradeView(upgrade, task, context.style, context.environment.now()));
  return exitCode.successful;
}

async function activity(context: CommandContext, id: string): Promise<ExitCode> {
  const page = await context.client.request("GET", `/v1/upgrades/${encodeURIComponent(id)}/activity`, PageOfActivity);
  context.print(page, () => activityView(page, context.style, context.columns));
  if (page.asOf !== undefined) context.say(`No worker answers now. This is the activity as of ${page.asOf}.`);
  return exitCode.successful;
}

async function bundles(context: CommandContext, id: string | undefined): Promise<ExitCode> {
  if (id === undefined) {
    const page = await context.client.request("GET", "/v1/bundles", PageOfBundle);
    context.print(page, () => bundlesTable(page.elements ?? [], context.columns));
  } else {
    const bundle = await context.client.request("GET", `/v1/bundles/${encodeURIComponent(id)}`, Bundle);
    context.print(bundle, () => bundlesTable([bundle], context.columns));
  }
  return exitCode.successful;
}

async function clusters(context: CommandContext, id: string | undefined): Promise<ExitCode> {
  if (id === undefined) {
    const page = await context.client.request("GET", "/v1/clusters", PageOfCluster);
    context.print(page, () => clustersTable(page.elements ?? [], context.columns));
  } else {
    const cluster = await context.client.request("GET", `/v1/clusters/${encodeURIComponent(id)}`, Cluster);
    context.print(cluster, () => clusterView(cluster, context.columns));
  }
  return exitCode.successful;
}

/** A page as the service answers it. */
export interface PageOf<A> {
  readonly elements?: readonly A[];
  readonly pageMetadata?: PageMetadata;
}

/** What a list holds. `total` is more than there are elements where the service could not read some. */
export interface WholeList<A> {
  readonly elements: A[];
  readonly total: number;
}

/** How often a list that changes while it is read is walked at most. */
const mostWalks = 3;

/**
 * All elements of a list that comes in pages, each once. What ends meanwhile moves to another place of the list, so an
 * element may slip from a page that is still to come into one that is read already: then the list is walked again.
 * `isEnough` ends the walk before the end.
 */
export async function allPages<A extends { readonly id: string }>(
  read: (paging: { readonly pageNumber: string; readonly pageSize: string }) => Promise<PageOf<A>>,
  isEnough: (found: ReadonlyMap<string, A>) => boolean = () => false,
): Promise<WholeList<A>> {
  const found = new Map<string, A>();
  let total = 0;
  for (let walk = 0; walk < mostWalks; walk += 1) {
    let pages = 1;
    for (let page = 0; page < pages; page += 1) {
      const { elements = [], pageMetadata } = await read({ pageNumber: `${page}`, pageSize: `${largestPage}` });
      for (const element of elements) found.set(element.id, element);
      total = pageMetadata?.totalElements ?? found.size;
      pages = Math.ceil(total / largestPage);
      if (isEnough(found)) return { elements: [...found.values()], total };
    }
    // The service reads one page in an order that nothing slips through.
    if (pages <= 1 || found.size >= total) break;
  }
  return { elements: [...found.values()], total: Math.max(total, found.size) };
}
