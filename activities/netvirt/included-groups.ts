import type { NetvirtComponentType } from "../../src/domain/netvirt-upgrade";
import type { NetvirtUpgradeOptions } from "../../src/domain/upgrade-plan";
import type { UnitGroup, UpgradeUnit } from "../drivers/nsx/nsx-models";

/** Whether the request wants a group upgraded: where it lists groups of the component, the listed ones, else all. */
export function isIncluded(
  component: NetvirtComponentType,
  { id }: Pick<UnitGroup, "id">,
  { hostClusters, edgeClusters }: NetvirtUpgradeOptions,
): boolean {
  const listed = component === "HOST" ? hostClusters : component === "EDGE" ? edgeClusters : undefined;
  return listed === undefined || listed.some((asked) => asked.id === id);
}

/** What an operator knows a group by. */
export function nameOf({ display_name, id }: Pick<UnitGroup | UpgradeUnit, "display_name" | "id">): string {
  return display_name ?? id;
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
