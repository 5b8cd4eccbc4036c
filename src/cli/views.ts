import { roughDuration } from "../domain/duration";
import { legible } from "../domain/legible";
import { maintenanceWords } from "../domain/maintenance-words";
import { nameAndId } from "../domain/names";
import type { ExpectedWave, PreviewedResource, UpgradePreview, WavePart } from "../domain/plan/preview";
import type { Bundle } from "../domain/spec/bundle";
import { heldError } from "../domain/hold";
import type { Cluster } from "../domain/spec/cluster";
import type { NetvirtInstance } from "../domain/spec/installations";
import { changeRecordLines } from "./upgrade-views";
import { cut, minute, plain, type Style, table } from "./text";

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
    ["ID", "NAME", "KIND", "HOSTS", "PLATFORM", "HELD BY", "WINDOW"],
    clusters.map(({ id, name, kind, hostCount, platformVersion, heldBy, heldByName, errors, maintenance }) => [
      plain(id),
      plain(name),
      plain(kind),
      plain(hostCount ?? (errors ? "not read" : undefined)),
      plain(platformVersion),
      plain(heldBy === undefined ? undefined : nameAndId(heldByName, heldBy)),
      plain(maintenance && maintenanceWords(maintenance, minute)),
    ]),
    { columns, elastic: ["NAME"], optional: ["PLATFORM", "WINDOW"] },
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
    ...instances.flatMap(({ errors = [] }) => errors.map(({ message }) => `! ${legible(message)}`)),
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
    ...[cluster, ...hosts].flatMap(({ hold }) => (hold ? [`! ${legible(heldError(hold).message)}`] : [])),
    ...errors.map(({ message }) => `! ${legible(message)}`),
  ];
}

/** More waves than these are told by their number only, in the middle; and of a wave more parts than these. */
const mostWaves = 40;
const mostParts = 8;

/** A plan for people: what is done to each resource, then who is in work together. */
export function planView(plan: UpgradePreview, style: Style, columns: number | undefined): string[] {
  const rows = plan.products.flatMap(({ product, resources }) =>
    resources.map((resource) => [
      product,
      plain(resource.name),
      plain(resource.targetVersion),
      resource.scheduledTimestamp === undefined ? "at once" : minute(resource.scheduledTimestamp),
      plain(resource.hostsAtOnce),
      between(resource),
      attempts(resource),
    ]),
  );
  const draft = plan.draftMode
    ? "Draft: prechecks run, then it waits for its commit."
    : "Not a draft: it starts when it is due.";
  const headings = ["PRODUCT", "RESOURCE", "TO VERSION", "BEGINS", "AT ONCE", "BETWEEN HOSTS", "ATTEMPTS"];
  return [
    style.bold(legible(plan.name)),
    draft,
    ...(plan.requiredApprovals === undefined ? [] : [`Approvals needed: ${plan.requiredApprovals}.`]),
    ...changeRecordLines(plan).flatMap(([label, text]) => (text === "" ? [] : [`${label}: ${text}`])),
    ...expectedLine(plan),
    "",
    ...table(headings, rows, { columns, elastic: ["RESOURCE"], optional: ["TO VERSION"] }),
    "",
    style.bold("Expected waves"),
    ...shortened(
      plan.waves.map((wave) => waveLines(wave, columns)),
      mostWaves,
      (left) => [`… ${left} more waves …`],
    ).flat(),
    ...notInScope(plan),
    ...windows(plan),
    ...(plan.waves.length === 0 ? ["Nothing to do: all hosts run the target version."] : []),
    "",
    "Nothing was started.",
  ];
}

/**
 * What an upgrade would do, in a few lines: for whoever is about to start it. `hosts`: how many there are of each cluster,
 * by its id, where that is known.
 */
export function startSummary(plan: UpgradePreview, hosts: ReadonlyMap<string, number>): string[] {
  const left = new Map<string, number>();
  for (const { resourceId, hosts: some = [] } of plan.waves.flatMap(({ parts }) => parts))
    left.set(resourceId, (left.get(resourceId) ?? 0) + some.length);
  const resources = plan.products.flatMap(({ product, resources: all }) => all.map((one) => ({ ...one, product })));
  const clusters = resources.filter(({ product, errors }) => product === "HOSTOS" && !errors);
  const total = (of: (id: string) => number) => clusters.reduce((sum, { resourceId }) => sum + of(resourceId), 0);
  const toUpgrade = total((id) => left.get(id) ?? 0);
  const notAsked = new Map(
    clusters.map(({ resourceId, hostsNotInScope = [] }) => [resourceId, hostsNotInScope.length]),
  );
  const atTarget = total((id) => Math.max((hosts.get(id) ?? 0) - (left.get(id) ?? 0) - (notAsked.get(id) ?? 0), 0));
  const leftOut = total((id) => notAsked.get(id) ?? 0);
  const rows = resources.map(({ product, resourceId, name, targetVersion, errors }) => [
    product,
    plain(name),
    plain(targetVersion),
    product !== "HOSTOS" ? "-" : errors ? "not known" : hostsText(left.get(resourceId) ?? 0, hosts.get(resourceId)),
  ]);
  return [
    legible(plan.name),
    ...table(["PRODUCT", "RESOURCE", "TO VERSION", "HOSTS TO UPGRADE"], rows),
    `Hosts: ${toUpgrade} to upgrade, ${atTarget} at target${leftOut > 0 ? `, ${leftOut} left out` : ""}.`,
    ...expectedLine(plan),
    ...notInScope(plan),
  ];
}

function expectedLine({ expectedSeconds }: UpgradePreview): string[] {
  return expectedSeconds === undefined
    ? []
    : [`Expected work, by earlier upgrades: ${roughDuration(expectedSeconds * 1000)}.`];
}

/** The maintenance windows, a line for each resource that has one. */
function windows({ products }: UpgradePreview): string[] {
  return products.flatMap(({ resources }) =>
    resources.flatMap(({ name, maintenance }) =>
      maintenance ? [legible(`Maintenance window of ${name}: ${maintenanceWords(maintenance, minute)}`)] : [],
    ),
  );
}

/** The hosts that the request leaves out, a line for each cluster. */
function notInScope({ products }: UpgradePreview): string[] {
  return products.flatMap(({ resources }) =>
    resources.flatMap(({ name, hostsNotInScope = [] }) => {
      const more = hostsNotInScope.length > mostParts ? [`and ${hostsNotInScope.length - mostParts} more`] : [];
      const names = [...hostsNotInScope.slice(0, mostParts).map(legible), ...more].join(", ");
      return names === "" ? [] : [`Left out of ${legible(name)}: ${names}`];
    }),
  );
}

function hostsText(left: number, total: number | undefined): string {
  return total === undefined || total < left ? `${left}` : `${left} of ${total}`;
}

function attempts({ maximumAttempts, retryDelay }: PreviewedResource): string {
  return maximumAttempts === 1 ? "1" : `${maximumAttempts}, ${retryDelay} s apart`;
}

/** What has to be before the next hosts of a cluster, by its rollout policy. */
function between({ soakSeconds = 0, healthGate = false, toleratedFailures = 0 }: PreviewedResource): string {
  const all = [
    ...(soakSeconds > 0 ? [`${soakSeconds} s`] : []),
    ...(healthGate ? ["healthy"] : []),
    ...(toleratedFailures > 0 ? [`${toleratedFailures} may fail`] : []),
  ];
  return all.length === 0 ? "-" : all.join(", ");
}

function waveLines({ product, wave, parts, scheduledTimestamp }: ExpectedWave, columns?: number): string[] {
  const from = scheduledTimestamp === undefined ? "" : ` from ${minute(scheduledTimestamp)}`;
  const lines = parts.map((part) => `  ${legible(partText(part))}`);
  return [`${product} ${wave}${from}`, ...shortened(lines, mostParts, (left) => `  … and ${left} more`)].map((line) =>
    columns === undefined ? line : cut(line, columns),
  );
}

function partText({ name, hosts, soakSeconds }: WavePart): string {
  const soak = soakSeconds === undefined ? "" : ` (${soakSeconds} s later)`;
  return `${name}${soak}${hosts ? `: ${hosts.join(", ")}` : ""}`;
}

/** The first and the last of many. */
function shortened<A>(all: readonly A[], most: number, instead: (left: number) => A): readonly A[] {
  if (all.length <= most) return all;
  const half = most / 2;
  return [...all.slice(0, half), instead(all.length - most), ...all.slice(-half)];
}
