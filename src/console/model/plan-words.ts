import type { PreviewedResource, UpgradePreview } from "../../domain/plan/preview";
import type { Cluster } from "../../domain/spec/cluster";
import { plural, shortList } from "./labels";
import { exactTime } from "./local-time";

const mechanisms = { InPlace: "in place", ReducedDowntimeMigration: "by migration" } as const;

/** What would be done to one resource, in a few phrases. `cluster` tells how many hosts there are. */
export function factsOf(resource: PreviewedResource, cluster: Cluster | undefined): readonly string[] {
  const { scheduledTimestamp, startSwitchoverTimestamp, upgradeMechanism, maximumAttempts, retryDelay } = resource;
  const attempts = maximumAttempts === 1 ? "one attempt" : `up to ${maximumAttempts} attempts, ${retryDelay} s apart`;
  return [
    scheduledTimestamp === undefined
      ? "as soon as it is due"
      : `not before ${exactTime(Date.parse(scheduledTimestamp))}`,
    ...(upgradeMechanism === undefined ? [] : [mechanisms[upgradeMechanism]]),
    ...(startSwitchoverTimestamp === undefined
      ? []
      : [`switchover not before ${exactTime(Date.parse(startSwitchoverTimestamp))}`]),
    ...(resource.hostsAtOnce === undefined ? [] : [wavesOf(resource.hostsAtOnce, hostsAsked(resource, cluster))]),
    attempts,
    ...(resource.hostsNotInScope ? [`without ${shortList(resource.hostsNotInScope)}`] : []),
  ];
}

function hostsAsked({ hostsNotInScope = [] }: PreviewedResource, cluster: Cluster | undefined): number | undefined {
  return cluster?.hostCount === undefined ? undefined : cluster.hostCount - hostsNotInScope.length;
}

/** How the hosts of a cluster follow each other. */
function wavesOf(atOnce: number, hosts: number | undefined): string {
  const each = atOnce === 1 ? "one host at a time" : `${atOnce} hosts at a time`;
  if (hosts === undefined) return each;
  const waves = atOnce === 1 ? "" : `: ${plural(Math.ceil(hosts / atOnce), "wave")}`;
  return `${plural(hosts, "host")}, ${each}${waves}`;
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
  const named = (some: readonly PreviewedResource[]) => some.map(({ name }) => name).join(", ");
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
