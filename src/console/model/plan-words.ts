import { durationWords, roughDuration } from "../../domain/duration";
import { maintenanceWords } from "../../domain/maintenance-words";
import type { ExpectedWave, PreviewedResource, UpgradePreview } from "../../domain/plan/preview";
import type { Product } from "../../domain/plan/upgrade-plan";
import type { Upgrade } from "../../domain/spec/upgrade";
import { plural, shortList } from "./labels";
import { exactTime } from "./local-time";

const mechanisms = { InPlace: "in place", ReducedDowntimeMigration: "by migration" } as const;

/** Resources of a product that are upgraded in the same way: to one version, at one time, with the same policy. */
export interface ResourceGroup {
  readonly targetVersion: string;
  /** How each of them is upgraded, in a few phrases. */
  readonly facts: readonly string[];
  readonly resources: readonly PreviewedResource[];
}

/** The resources of a product, those that are upgraded alike together. */
export function resourceGroups(resources: readonly PreviewedResource[]): ResourceGroup[] {
  const groups = new Map<string, ResourceGroup>();
  for (const resource of resources) {
    const facts = factsOf(resource);
    const key = [resource.targetVersion, ...facts].join("\n");
    const { targetVersion } = resource;
    groups.set(key, { targetVersion, facts, resources: [...(groups.get(key)?.resources ?? []), resource] });
  }
  return [...groups.values()];
}

function factsOf(resource: PreviewedResource): readonly string[] {
  const { scheduledTimestamp, startSwitchoverTimestamp, upgradeMechanism, maximumAttempts, retryDelay } = resource;
  const { hostsAtOnce, soakSeconds = 0, healthGate, toleratedFailures = 0, maintenance } = resource;
  const attempts = maximumAttempts === 1 ? "one attempt" : `up to ${maximumAttempts} attempts, ${retryDelay} s apart`;
  return [
    scheduledTimestamp === undefined
      ? "as soon as it is due"
      : `not before ${exactTime(Date.parse(scheduledTimestamp))}`,
    ...(upgradeMechanism === undefined ? [] : [mechanisms[upgradeMechanism]]),
    ...(startSwitchoverTimestamp === undefined
      ? []
      : [`switchover not before ${exactTime(Date.parse(startSwitchoverTimestamp))}`]),
    ...(hostsAtOnce === undefined ? [] : [hostsAtOnce === 1 ? "one host at a time" : `${hostsAtOnce} hosts at a time`]),
    ...(soakSeconds > 0 ? [`${durationWords(soakSeconds * 1000)} between hosts`] : []),
    ...(healthGate === true ? ["the cluster must be healthy before the next host"] : []),
    ...(toleratedFailures > 0 ? [`goes on after ${plural(toleratedFailures, "failed host")}`] : []),
    ...(maintenance ? [`maintenance window ${maintenanceWords(maintenance, (at) => exactTime(Date.parse(at)))}`] : []),
    attempts,
  ];
}

/** What the hosts of a cluster are: how many are upgraded, how many are done already, and from which versions. */
export function hostWords(resource: PreviewedResource): string {
  const { hostCount, hostsAtTarget = 0, hostVersions = [], hostsNotInScope = [], errors = [] } = resource;
  const { expectedSeconds } = resource;
  if (hostCount === undefined) return errors.length > 0 ? "its hosts are not known" : "";
  const left = hostsToUpgrade(resource);
  const from = hostVersions.map(({ version }) => version).join(", ");
  return [
    left === hostCount ? plural(left, "host") : `${left} of ${plural(hostCount, "host")}`,
    ...(hostsAtTarget > 0 ? [`${hostsAtTarget} done already`] : []),
    ...(hostsNotInScope.length > 0 ? [`without ${shortList(hostsNotInScope)}`] : []),
    ...(from === "" ? [] : [`on ${from}`]),
    ...(expectedSeconds === undefined ? [] : [`expected to take ${roughDuration(expectedSeconds * 1000)}`]),
  ].join(", ");
}

function hostsToUpgrade({ hostCount = 0, hostsAtTarget = 0, hostsNotInScope = [] }: PreviewedResource): number {
  return Math.max(0, hostCount - hostsAtTarget - hostsNotInScope.length);
}

/** A fact of a plan as a whole. */
export interface PlanFact {
  readonly term: string;
  readonly words: string;
}

/** What a plan comes to: its resources, its hosts, from which versions to which, in how many waves, in what time. */
export function planFacts({ products, waves, expectedSeconds }: UpgradePreview): PlanFact[] {
  const of = (kind: PreviewedResource["kind"]) =>
    products.flatMap(({ resources }) => resources.filter((one) => one.kind === kind));
  const clusters = [...of("IMAGE"), ...of("BASELINE")];
  const left = clusters.reduce((sum, cluster) => sum + hostsToUpgrade(cluster), 0);
  const done = clusters.reduce((sum, { hostsAtTarget = 0 }) => sum + hostsAtTarget, 0);
  const without = clusters.reduce((sum, { hostsNotInScope = [] }) => sum + hostsNotInScope.length, 0);
  const unknown = clusters.filter(({ hostCount }) => hostCount === undefined).length;
  const from = new Map<string, number>();
  for (const { version, hosts } of clusters.flatMap(({ hostVersions = [] }) => hostVersions))
    from.set(version, (from.get(version) ?? 0) + hosts);
  const to = [...new Set(clusters.map(({ targetVersion }) => targetVersion))];
  const parts = [
    ...(of("NETVIRT").length > 0 ? [plural(of("NETVIRT").length, "NETVIRT instance")] : []),
    ...(of("MGMT").length > 0 ? [plural(of("MGMT").length, "management server")] : []),
    ...(clusters.length > 0 ? [plural(clusters.length, "cluster")] : []),
  ];
  return [
    { term: "Upgrades", words: parts.join(", ") },
    ...(clusters.length === 0
      ? []
      : [
          {
            term: "Hosts",
            words: [
              `${number(left)} to upgrade`,
              ...(done > 0 ? [`${number(done)} done already`] : []),
              ...(without > 0 ? [`${number(without)} not asked for`] : []),
              ...(unknown > 0 ? [`those of ${plural(unknown, "cluster")} not known`] : []),
            ].join(", "),
          },
          ...(from.size === 0
            ? []
            : [
                {
                  term: "Now on",
                  words: [...from].map(([version, hosts]) => `${version} (${plural(hosts, "host")})`).join(", "),
                },
              ]),
          { term: "To", words: to.join(", ") },
        ]),
    { term: "Waves", words: String(waves.length) },
    ...(expectedSeconds === undefined
      ? []
      : [{ term: "Expected work", words: `${roughDuration(expectedSeconds * 1000)}, by earlier upgrades` }]),
  ];
}

function number(count: number): string {
  return count.toLocaleString("en-GB");
}

/** Waves that follow each other and are alike: as many hosts of the same resources. */
export interface WaveRun {
  readonly product: Product;
  readonly first: number;
  readonly waves: readonly ExpectedWave[];
  /** What is in work in each of them. */
  readonly words: string;
}

/** What runs beside what, in the order in which it does. */
export function waveRuns(waves: readonly ExpectedWave[]): WaveRun[] {
  const runs: (WaveRun & { readonly shape: string })[] = [];
  for (const wave of waves) {
    const shape = JSON.stringify([
      wave.product,
      wave.scheduledTimestamp,
      wave.parts.map(({ resourceId, hosts }) => [resourceId, hosts?.length]),
    ]);
    const last = runs.at(-1);
    if (last?.shape === shape) runs[runs.length - 1] = { ...last, waves: [...last.waves, wave] };
    else runs.push({ shape, product: wave.product, first: wave.wave, waves: [wave], words: waveWords(wave) });
  }
  return runs.map(({ shape: _shape, ...run }) => run);
}

function waveWords({ parts, scheduledTimestamp }: ExpectedWave): string {
  const hosts = parts.reduce((sum, part) => sum + (part.hosts?.length ?? 0), 0);
  const names = shortList(parts.map(({ name }) => name));
  const time = scheduledTimestamp === undefined ? "" : `, not before ${exactTime(Date.parse(scheduledTimestamp))}`;
  return `${hosts > 0 ? `${plural(hosts, "host")} of ` : ""}${names}${time}`;
}

/** One wave in full: its resources, each with its hosts. */
export function wavePartWords({ parts }: ExpectedWave): string {
  return parts.map(({ name, hosts = [] }) => (hosts.length > 0 ? `${name}: ${hosts.join(", ")}` : name)).join("; ");
}

/** Of upgrades that went well the latest first: the last one of the same resources, where there is one. */
export function lastOfSame(upgrades: readonly Upgrade[], { products }: UpgradePreview): Upgrade | undefined {
  const key = (ids: readonly string[]) => [...new Set(ids)].sort().join("\n");
  const wanted = key(products.flatMap(({ resources }) => resources.map(({ resourceId }) => resourceId)));
  return upgrades.find(
    ({ resources = [], workSeconds = 0 }) =>
      workSeconds > 0 && key(resources.flatMap(({ resourceId }) => resourceId ?? [])) === wanted,
  );
}

/**
 * What somebody should know before it is sent: what is hard to undo, what may surprise, and what was left out for some
 * clusters. `leftOut` names, by cluster id, fields that exist for the other kind of cluster only.
 */
export function warningsOf(
  { draftMode, products, warnings = [] }: UpgradePreview,
  leftOut: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const resources = products.flatMap((product) => product.resources);
  const clusters = products.flatMap(({ product, resources: its }) => (product === "HOSTOS" ? its : []));
  const named = (some: readonly PreviewedResource[]) => shortList(some.map(({ name }) => name));
  const warning = (those: (resource: PreviewedResource) => boolean, text: (names: string) => string) => {
    const some = resources.filter(those);
    return some.length > 0 ? [text(named(some))] : [];
  };
  const option = (resource: PreviewedResource) => resource.hostosUpgradeOptionsSpec ?? {};
  const action = (resource: PreviewedResource) => option(resource).preRemediationPowerAction;
  return [
    ...warnings.map(({ message }) => message),
    ...(!draftMode && resources.some(({ scheduledTimestamp }) => scheduledTimestamp === undefined)
      ? ["This is not a draft: it starts as soon as its prechecks have passed."]
      : []),
    ...warning(
      (resource) => action(resource) === "POWER_OFF_VMS",
      (names) => `Machines that cannot be moved are powered off: ${names}.`,
    ),
    ...warning(
      (resource) => action(resource)?.startsWith("SUSPEND") === true,
      (names) => `Machines that cannot be moved are suspended: ${names}.`,
    ),
    ...warning(
      (resource) => option(resource).disableHac === true,
      (names) => `Admission control is off during the upgrade, so capacity may be short after a failure: ${names}.`,
    ),
    ...warning(
      ({ upgradeMechanism }) => upgradeMechanism === "InPlace",
      (names) => `Unavailable for some time during its in-place upgrade: ${names}.`,
    ),
    ...warning(
      ({ hostsAtOnce = 1 }) => hostsAtOnce > 1,
      (names) => `Several hosts are out of service at once: ${names}.`,
    ),
    ...(products.length > 1 && new Set(resources.map(({ scheduledTimestamp }) => scheduledTimestamp)).size > 1
      ? ["Times differ. A product starts when the one before it is done, so a late time delays everything after it."]
      : []),
    ...[...leftOut].map(([id, fields]) => {
      const name = clusters.find(({ resourceId }) => resourceId === id)?.name ?? id;
      return `Not sent for ${name}, because its kind of cluster does not support it: ${fields.join(", ")}.`;
    }),
  ];
}
