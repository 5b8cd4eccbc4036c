import type * as t from "io-ts";
import { PageOfActivity } from "../domain/activity/upgrade-activity";
import { Bundle, PageOfBundle } from "../domain/spec/bundle";
import { Cluster, PageOfCluster } from "../domain/spec/cluster";
import {
  PageOfIso,
  PageOfManagementServer,
  PageOfNetvirtInstance,
  PageOfPersonality,
} from "../domain/spec/installations";
import { Task } from "../domain/spec/task";
import { Upgrade } from "../domain/spec/upgrade";
import { activityView } from "./activity-view";
import type { AddCommand, CommandContext } from "./command-context";
import { exitCode, type ExitCode } from "./errors";

import { type NamedKind, ofUpgrade } from "./names";
import { bundlesTable, clustersTable, clusterView, nameableTable, netvirtTable } from "./views";
import { upgradeView } from "./upgrade-views";
import { watch } from "./watch";

/** `get`, `activity`, `watch`, `bundles`, `clusters` and the lists of what else a request can name. */
export function addReadCommands(add: AddCommand): void {
  add("get", "Show one upgrade in full", ["upgradectl get ID", "upgradectl get ID -o json"])
    .argument("<upgrade>", ofUpgrade)
    .action(add.runWithId(get));
  add("activity", "Show the activity log of an upgrade", ["upgradectl activity ID", "upgradectl activity ID -o json"])
    .argument("<upgrade>", ofUpgrade)
    .action(add.runWithId(activity));
  add("watch", "Follow an upgrade until it ends", ["upgradectl watch ID", "upgradectl watch ID -o json | tail -n 1"])
    .argument("<upgrade>", ofUpgrade)
    .action(add.runWithId(watch));
  add("bundles", "List bundles to upgrade to, or show one", ["upgradectl bundles"])
    .argument("[bundle]", "one bundle: its version, name or id")
    .action(add.runWithName(bundles));
  add("clusters", "List clusters, or show one with its hosts", ["upgradectl clusters"])
    .argument("[cluster]", "one cluster: its name or id")
    .action(add.runWithName(clusters));
  add("netvirt", "List NETVIRT instances with their host and edge clusters, or show one", ["upgradectl netvirt"])
    .argument("[instance]", "one instance: its name or id")
    .action(
      add.runWithName(async (context, name) => {
        const page = await context.client.request("GET", "/v1/netvirt", PageOfNetvirtInstance);
        const shown = await elementsNamed(context, "netvirt", name, page);
        context.print(shown, () => netvirtTable(shown.elements ?? [], context.columns));
        return exitCode.successful;
      }),
    );
  addNameable(add, "servers", "management servers", "server", "/v1/management-servers", PageOfManagementServer);
  addNameable(
    add,
    "personalities",
    "images for image-managed clusters",
    "personality",
    "/v1/personalities",
    PageOfPersonality,
  );
  addNameable(add, "isos", "ISOs for baseline-managed clusters", "iso", "/v1/isos", PageOfIso);
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
  kind: NamedKind,
  path: string,
  codec: t.Type<A, unknown, unknown>,
): void {
  add(name, `List ${title}, or show one`, [`upgradectl ${name}`])
    .argument("[name]", "one of them: its name or id")
    .action(
      add.runWithName(async (context, wanted) => {
        const page = await elementsNamed(context, kind, wanted, await context.client.request("GET", path, codec));
        context.print(page, () => nameableTable(page.elements ?? [], context.columns));
        return exitCode.successful;
      }),
    );
}

/** The page with only the element that is named, where one is. */
async function elementsNamed<A extends { readonly elements?: readonly { readonly id: string }[] }>(
  { names }: CommandContext,
  kind: NamedKind,
  name: string | undefined,
  page: A,
): Promise<A> {
  if (name === undefined) return page;
  const { id } = await names.find(kind, name);
  return { ...page, elements: page.elements?.filter((one) => one.id === id) };
}

async function get(context: CommandContext, id: string): Promise<ExitCode> {
  const upgrade = await context.client.request("GET", `/v1/upgrades/${encodeURIComponent(id)}`, Upgrade);
  const task = await context.client.request("GET", `/v1/tasks/${encodeURIComponent(id)}`, Task);
  context.print({ upgrade, task }, () =>
    upgradeView(upgrade, task, { style: context.style, now: context.environment.now(), zone: context.zones.given }),
  );
  return exitCode.successful;
}

async function activity(context: CommandContext, id: string): Promise<ExitCode> {
  const page = await context.client.request("GET", `/v1/upgrades/${encodeURIComponent(id)}/activity`, PageOfActivity);
  context.print(page, () => activityView(page, context.style, context.columns));
  if (page.asOf !== undefined) context.say(`No worker is answering. This is the activity as of ${page.asOf}.`);
  return exitCode.successful;
}

async function bundles(context: CommandContext, name: string | undefined): Promise<ExitCode> {
  if (name === undefined) {
    const page = await context.client.request("GET", "/v1/bundles", PageOfBundle);
    context.print(page, () => bundlesTable(page.elements ?? [], context.columns));
  } else {
    const id = await context.names.idOf("bundle", name);
    const bundle = await context.client.request("GET", `/v1/bundles/${encodeURIComponent(id)}`, Bundle);
    context.print(bundle, () => bundlesTable([bundle], context.columns));
  }
  return exitCode.successful;
}

async function clusters(context: CommandContext, name: string | undefined): Promise<ExitCode> {
  if (name === undefined) {
    const page = await context.client.request("GET", "/v1/clusters", PageOfCluster);
    context.print(page, () => clustersTable(page.elements ?? [], context.columns));
  } else {
    const id = await context.names.idOf("cluster", name);
    const cluster = await context.client.request("GET", `/v1/clusters/${encodeURIComponent(id)}`, Cluster);
    context.print(cluster, () => clusterView(cluster, context.columns));
  }
  return exitCode.successful;
}
