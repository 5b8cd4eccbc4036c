import type { NetvirtComponentType } from "../../src/domain/netvirt-upgrade";
import { canonicalId } from "../../src/domain/codec";
import type {
  NetvirtEdgeClusterOptions,
  NetvirtHostClusterOptions,
  NetvirtUpgradeOptions,
} from "../../src/domain/upgrade-plan";
import { legible } from "../drivers/legible";
import type { UnitGroup, UpgradeUnit } from "../drivers/nsx/nsx-models";

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
