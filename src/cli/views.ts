import type { Bundle } from "../domain/bundle";
import type { Cluster } from "../domain/cluster";
import type { NetvirtInstance } from "../domain/installed";
import type { SubTask, Task } from "../domain/task";
import { toTimestamp } from "../domain/timestamp";
import type { Upgrade } from "../domain/upgrade";
import { headline, summary } from "./progress-tree";
import { coloured, symbolOf, type Style } from "./style";
import { minute, plain, table } from "./table";
import { printable } from "./printable";
import { nextStepOf } from "./task-parts";

/** The list of upgrades; `tasks` gives their names and times where they could be read. */
export function upgradesTable(
  upgrades: readonly Upgrade[],
  tasks: readonly Task[],
  style: Style,
  columns: number | undefined,
): string[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  return table(
    ["ID", "STATUS", "NAME", "CREATED", "ENDED"],
    upgrades.map(({ id, status, endTime, bundleId }) => {
      const task = byId.get(id);
      return [
        plain(id),
        coloured(style, status ?? "-"),
        plain(task?.name ?? `bundle ${bundleId}`),
        minute(task?.creationTimestamp),
        minute(endTime === undefined ? undefined : toTimestamp(endTime)),
      ];
    }),
    { columns, elastic: ["NAME"], optional: ["ENDED", "CREATED"] },
  );
}

/** The bundles of the catalog. */
export function bundlesTable(bundles: readonly Bundle[], columns: number | undefined): string[] {
  return table(
    ["ID", "VERSION", "STATUS", "BRINGS"],
    bundles.map(({ id, version, downloadStatus, components = [] }) => [
      plain(id),
      plain(version),
      plain(downloadStatus),
      plain(components.map(({ type, toVersion }) => [type, toVersion].filter(Boolean).join(" ")).join(", ")),
    ]),
    { columns, elastic: ["BRINGS"] },
  );
}

/** The clusters of the inventory. */
export function clustersTable(clusters: readonly Cluster[], columns: number | undefined): string[] {
  return table(
    ["ID", "NAME", "KIND", "HOSTS", "PLATFORM", "HELD BY"],
    clusters.map(({ id, name, kind, hostCount, platformVersion, heldBy, errors }) => [
      plain(id),
      plain(name),
      plain(kind),
      plain(hostCount ?? (errors ? "not read" : undefined)),
      plain(platformVersion),
      plain(heldBy),
    ]),
    { columns, elastic: ["NAME"], optional: ["PLATFORM"] },
  );
}

/** What a request can name: ids, names, and versions where they have one. */
export function nameableTable(
  all: readonly { readonly id: string; readonly name: string; readonly version?: string }[],
  columns: number | undefined,
): string[] {
  return table(
    ["ID", "NAME", "VERSION"],
    all.map(({ id, name, version }) => [plain(id), plain(name), plain(version)]),
    { columns, elastic: ["NAME"] },
  );
}

/** NETVIRT instances, each with its groups. */
export function netvirtTable(instances: readonly NetvirtInstance[], columns: number | undefined): string[] {
  const rows = instances.flatMap(({ id, name, hostClusters = [], edgeClusters = [] }) => [
    [plain("instance"), plain(id), plain(name)],
    ...hostClusters.map((group) => [plain("host cluster"), plain(group.id), plain(group.name)]),
    ...edgeClusters.map((group) => [plain("edge cluster"), plain(group.id), plain(group.name)]),
  ]);
  return [
    ...table(["WHAT", "ID", "NAME"], rows, { columns, elastic: ["NAME"] }),
    ...instances.flatMap(({ errors = [] }) => errors.map(({ message }) => `! ${printable(message)}`)),
  ];
}

/** One cluster with its hosts. */
export function clusterView(cluster: Cluster, columns: number | undefined): string[] {
  const { hosts = [], errors = [] } = cluster;
  return [
    ...clustersTable([cluster], columns),
    "",
    ...table(
      ["HOST", "VERSION"],
      hosts.map(({ fqdn, version }) => [plain(fqdn), plain(version)]),
    ),
    ...errors.map(({ message }) => `! ${printable(message)}`),
  ];
}

/** One upgrade: where it stands, then each part with its stages while it runs, and what has failed. */
export function upgradeView({ id, status }: Upgrade, task: Task, style: Style, now: number): string[] {
  const next = nextStepOf(task);
  return [
    style.bold(headline(task)),
    `${plain(id)}   ${coloured(style, status ?? "-")}`,
    summary(task, now),
    "",
    ...(task.subTasks ?? []).flatMap((part) => partLines(part, "", style)),
    ...(task.errors ?? []).map(({ message }) => style.red(`✖ ${printable(message)}`)),
    ...(next === "" ? [] : [`Next: ${printable(next)}`]),
  ];
}

function partLines(part: SubTask, indent: string, style: Style): string[] {
  const { status, name, stages = [], errors = [], subTasks = [] } = part;
  const isOpen = status === "IN_PROGRESS" || status === "FAILED";
  const below = `${indent}  `;
  const shownStages = isOpen ? stages.filter((stage) => stage.status !== "PENDING") : [];
  return [
    `${indent}${coloured(style, status, symbolOf(status))} ${printable(name)}`,
    ...shownStages.map(
      (stage) => `${below}${coloured(style, stage.status, symbolOf(stage.status))} ${printable(stage.name)}`,
    ),
    ...errors.map(({ message }) => style.red(`${below}! ${printable(message)}`)),
    ...subTasks.flatMap((one) => partLines(one, below, style)),
  ];
}
