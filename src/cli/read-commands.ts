import { Bundle, PageOfBundle } from "../domain/bundle";
import { Cluster, PageOfCluster } from "../domain/cluster";
import { PageOfTask, Task } from "../domain/task";
import { PageOfUpgrade, Upgrade } from "../domain/upgrade";
import type { AddCommand } from "./add-command";
import type { CommandContext } from "./command-context";
import { exitCode, type ExitCode } from "./exit-code";
import { bundlesTable, clustersTable, clusterView, upgradesTable, upgradeView } from "./views";
import { watch } from "./watch";

interface ListOptions {
  readonly status?: string;
  readonly bundle?: string;
  readonly cluster?: string;
}

/** `list`, `get`, `watch`, `bundles` and `clusters`. */
export function addReadCommands(add: AddCommand): void {
  add("list", "List upgrades", ["upgradectl list --status INPROGRESS", "upgradectl list -o json"])
    .option("--status <status>", "only with this status, such as DRAFT or INPROGRESS")
    .option("--bundle <id>", "only to this bundle")
    .option("--cluster <id>", "only of this cluster")
    .action(add.run(list));
  add("get", "Show one upgrade and all of its parts", ["upgradectl get ID", "upgradectl get ID -o json"])
    .argument("<id>", "the id that `start` has printed")
    .action(add.runWithId(get));
  add("watch", "Follow an upgrade to its end", ["upgradectl watch ID", "upgradectl watch ID -o json > task.json"])
    .argument("<id>", "the id that `start` has printed")
    .action(add.runWithId(watch));
  add("bundles", "List what there is to upgrade to, or show one bundle", ["upgradectl bundles"])
    .argument("[id]", "one bundle")
    .action(add.runWithOptionalId(bundles));
  add("clusters", "List what can be upgraded, or show one cluster with its hosts", ["upgradectl clusters"])
    .argument("[id]", "one cluster")
    .action(add.runWithOptionalId(clusters));
}

async function list(context: CommandContext, { status, bundle, cluster }: ListOptions): Promise<ExitCode> {
  const query = new URLSearchParams({
    ...(status !== undefined && { status }),
    ...(bundle !== undefined && { bundleId: bundle }),
  });
  const page = await context.client.request("GET", `/v1/upgrades?${query.toString()}`, PageOfUpgrade);
  const all = page.elements ?? [];
  const elements =
    cluster === undefined
      ? all
      : all.filter(({ resourceUpgradeSpecs = [] }) =>
          resourceUpgradeSpecs.some(({ resourceId }) => resourceId === cluster),
        );
  if (context.isJson) context.printJson(cluster === undefined ? page : { elements });
  else {
    const tasks = await context.client.request("GET", "/v1/tasks", PageOfTask);
    context.print(elements, () => upgradesTable(elements, tasks.elements ?? [], context.style));
  }
  const total = page.pageMetadata?.totalElements ?? all.length;
  if (total > all.length)
    context.say(`These are the first ${all.length} of ${total}; --status or --bundle makes them fewer.`);
  return exitCode.successful;
}

async function get(context: CommandContext, id: string): Promise<ExitCode> {
  const upgrade = await context.client.request("GET", `/v1/upgrades/${encodeURIComponent(id)}`, Upgrade);
  const task = await context.client.request("GET", `/v1/tasks/${encodeURIComponent(id)}`, Task);
  context.print({ upgrade, task }, () => upgradeView(upgrade, task, context.style, context.surroundings.now()));
  return exitCode.successful;
}

async function bundles(context: CommandContext, id: string | undefined): Promise<ExitCode> {
  if (id === undefined) {
    const page = await context.client.request("GET", "/v1/bundles", PageOfBundle);
    context.print(page, () => bundlesTable(page.elements ?? []));
  } else {
    const bundle = await context.client.request("GET", `/v1/bundles/${encodeURIComponent(id)}`, Bundle);
    context.print(bundle, () => bundlesTable([bundle]));
  }
  return exitCode.successful;
}

async function clusters(context: CommandContext, id: string | undefined): Promise<ExitCode> {
  if (id === undefined) {
    const page = await context.client.request("GET", "/v1/clusters", PageOfCluster);
    context.print(page, () => clustersTable(page.elements ?? []));
  } else {
    const cluster = await context.client.request("GET", `/v1/clusters/${encodeURIComponent(id)}`, Cluster);
    context.print(cluster, () => clusterView(cluster));
  }
  return exitCode.successful;
}
