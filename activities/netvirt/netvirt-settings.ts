import { isDeepStrictEqual } from "node:util";
import { canonicalId } from "../../src/domain/codec";
import type {
  NetvirtEdgeClusterOptions,
  NetvirtHostClusterOptions,
  NetvirtUpgradeOptions,
} from "../../src/domain/plan/upgrade-plan";
import type { NetvirtComponentType } from "../../src/domain/task/netvirt-upgrade";
import type { NetvirtGroupSettings, NetvirtPlanSettings, NetvirtSettings, NetvirtTarget } from "../contract";
import { DriverError, isNotFound } from "../drivers/driver-error";
import { legible } from "../../src/domain/legible";
import type { NsxClient } from "../drivers/nsx/nsx-client";
import type { KeyValue, PlanSettings, UnitGroup, UpgradeUnit } from "../drivers/nsx/nsx-models";
import type { RetryPolicy } from "../retry-policy";

/** Components whose groups and settings a request decides on. */
type Planned = "EDGE" | "HOST";

/** What an upgrade may change of a group, as the group is now. */
export function previousGroup(group: UnitGroup): NetvirtGroupSettings {
  const { id, enabled, parallel, pause_after_each_upgrade_unit, extended_configuration } = group;
  return {
    id,
    ...(enabled !== undefined && { enabled }),
    ...(parallel !== undefined && { parallel }),
    ...(pause_after_each_upgrade_unit !== undefined && { pause_after_each_upgrade_unit }),
    ...(extended_configuration && { extended_configuration }),
  };
}

/**
 * Settings of a component for this upgrade. It stops at the first host that fails, so that what is wrong does not
 * spread, and never pauses by itself. `pause_on_error` of edges cannot be changed.
 */
function planSettingsOf(
  component: Planned,
  previous: NetvirtPlanSettings,
  { hostClustersParallel, edgeClustersParallel }: NetvirtTarget["options"],
): NetvirtPlanSettings {
  const parallel = component === "HOST" ? hostClustersParallel : edgeClustersParallel;
  return {
    ...previous,
    ...(parallel !== undefined && { parallel }),
    ...(component === "HOST" && { pause_on_error: true }),
    pause_after_each_group: false,
  };
}

/** A group, which the coordinator calls `name`, for this upgrade. `parallel` of edge groups cannot be changed: a precheck refuses what would need it. */
function groupSettingsOf(
  component: Planned,
  previous: NetvirtGroupSettings,
  options: NetvirtTarget["options"],
  name?: string,
): NetvirtGroupSettings {
  const group = { id: previous.id, ...(name !== undefined && { display_name: name }) };
  const included = isIncluded(component, group, options);
  const asked = component === "HOST" ? options.hostClusters?.find((cluster) => isGroup(cluster, group)) : undefined;
  return {
    ...previous,
    enabled: included,
    ...(included && { pause_after_each_upgrade_unit: false }),
    ...(asked?.parallel !== undefined && { parallel: asked.parallel }),
    ...(asked?.liveUpgrade !== undefined && {
      extended_configuration: upgradeMode(previous.extended_configuration ?? [], asked.liveUpgrade),
    }),
  };
}

/** The coordinator's plan becomes what the request asks for. */
export async function putNetvirtSettings(
  client: NsxClient,
  retryPolicy: RetryPolicy,
  { options, previous }: NetvirtTarget & { readonly previous: NetvirtSettings },
): Promise<void> {
  const components: readonly Planned[] = options.edgeOnly ? ["EDGE"] : ["EDGE", "HOST"];
  for (const component of components) {
    const settings = planSettingsOf(component, previous.plan[component] ?? {}, options);
    await changeSettings(client, retryPolicy, component, settings);
    const groups = await retryPolicy.retry(() => client.listGroups(component));
    for (const group of groups) {
      const before = previous.groups.find(({ id }) => id === group.id) ?? previousGroup(group);
      await changeGroup(client, retryPolicy, groupSettingsOf(component, before, options, group.display_name));
    }
  }
}

/** The coordinator's plan becomes what it was. The managers' upgrade may have made the groups anew: those gone are passed over. */
export async function restoreNetvirtSettings(
  client: NsxClient,
  retryPolicy: RetryPolicy,
  { plan, groups }: NetvirtSettings,
): Promise<void> {
  for (const [component, settings] of Object.entries(plan)) {
    await changeSettings(client, retryPolicy, component, settings);
    // Whatever stands before the managers may have answered in their place.
    const now = await retryPolicy.retry(() => client.readSettings(component));
    if (!isSame(now, settings)) throw notRestored(client, `the settings of ${component}`);
  }
  for (const group of groups) {
    try {
      await changeGroup(client, retryPolicy, group);
      const now = await retryPolicy.retry(() => client.readGroup(group.id));
      if (!isSame(previousGroup(now), group)) throw notRestored(client, `group ${now.display_name}`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

function notRestored({ id }: NsxClient, what: string): DriverError {
  return new DriverError({
    kind: "transient",
    code: "NETVIRT_SETTINGS_NOT_CHANGED",
    message: `${id} accepted ${what} of its upgrade plan, but shows others.`,
    remediation: "Compare the upgrade plan in NETVIRT with its previous values, and restore it manually.",
  });
}

async function changeSettings(
  client: NsxClient,
  retryPolicy: RetryPolicy,
  component: string,
  settings: PlanSettings,
): Promise<void> {
  await retryPolicy.retry(async () => {
    const current = await client.readSettings(component);
    if (!isSame(current, settings)) await client.putSettings(component, settings);
  });
}

/** Every repetition reads the group again, so that a revision which is stale becomes the current one. */
async function changeGroup(client: NsxClient, retryPolicy: RetryPolicy, settings: NetvirtGroupSettings): Promise<void> {
  await retryPolicy.retry(async () => {
    const group = await client.readGroup(settings.id);
    const { extended_configuration, ...flags } = settings;
    const wanted: UnitGroup = {
      ...group,
      ...flags,
      ...(extended_configuration && { extended_configuration: [...extended_configuration] }),
    };
    if (!isSame(previousGroup(group), previousGroup(wanted))) await client.putGroup(wanted);
  });
}

function isSame(current: object, wanted: object): boolean {
  return Object.entries(wanted).every(([key, value]) =>
    isDeepStrictEqual((current as Record<string, unknown>)[key], value),
  );
}

/** In place means without maintenance mode and without a restart (docs/spec-gaps.md, liveUpgrade). */
function upgradeMode(
  configuration: NonNullable<NetvirtGroupSettings["extended_configuration"]>,
  live: NonNullable<NetvirtHostClusterOptions["liveUpgrade"]>,
): KeyValue[] {
  const ours: KeyValue[] = [
    { key: "upgrade_mode", value: live ? "in_place" : "maintenance_mode" },
    { key: "rebootless_upgrade", value: String(live) },
  ];
  return [...configuration.filter(({ key }) => !ours.some((own) => own.key === key)), ...ours];
}

/** Whether the request wants a group upgraded: where it lists groups of the component, the listed ones, else all. */
export function isIncluded(
  component: NetvirtComponentType,
  group: Pick<UnitGroup, "id" | "display_name">,
  { hostClusters, edgeClusters }: NetvirtUpgradeOptions,
): boolean {
  const listed = component === "HOST" ? hostClusters : component === "EDGE" ? edgeClusters : undefined;
  return listed === undefined || listed.some((asked) => isGroup(asked, group));
}

/** Whether a request means a group: by its id, by its name, or by the cluster that it is. */
export function isGroup(
  asked: NetvirtHostClusterOptions | NetvirtEdgeClusterOptions,
  { id, display_name: name }: Pick<UnitGroup, "id" | "display_name">,
): boolean {
  if (canonicalId(asked.id) === canonicalId(id)) return true;
  // Requests have it as it is in the coordinator, or as this service shows it.
  const names = name === undefined ? [] : [name, legible(name)];
  return names.some((known) => known === asked.id || ("name" in asked && known === asked.name));
}

/** What an operator knows a group by. Cleaned here and not where it comes in, because a group is put back as it was read. */
export function nameOf({ display_name, id }: Pick<UnitGroup | UpgradeUnit, "display_name" | "id">): string {
  return display_name === undefined ? id : legible(display_name);
}

const outOfMaintenance = /^(|disabled|false|no|none|off|out|exited)$/i;

/**
 * Whether a node is in NETVIRT's own maintenance mode, in which upgrades pass it over. The contract has no field for
 * it, so its warnings and metadata are searched (docs/spec-gaps.md, NETVIRT maintenance mode).
 */
export function isInMaintenance({ warnings = [], metadata = [] }: UpgradeUnit): boolean {
  return (
    warnings.some((warning) => /maintenance[ _]mode/i.test(warning)) ||
    metadata.some(({ key = "", value = "" }) => /maintenance_?mode/i.test(key) && !outOfMaintenance.test(value))
  );
}
