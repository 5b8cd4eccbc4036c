import type { HostsSpec, ResourceUpgradeSpec } from "../../domain/spec/upgrade-spec";
import { type FieldPath, valueAt, withValueAt } from "./field-path";

/**
 * The fields of a model as somebody fills them in. A value that is not right yet stays as it was typed: the codec of the
 * model judges it, not the form.
 */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * A cluster of the request. With `own` it has fields of its own, without it those that all clusters share. Its `hosts` are
 * never those of another.
 */
export interface ChosenCluster {
  readonly resourceId: string;
  /** Those that are upgraded; absent means all. */
  readonly hosts?: HostsSpec;
  readonly own?: Fields;
}

/**
 * What somebody has filled in: the request itself (Spec 2.1) but for the fields of its clusters, which are asked once
 * for all of them. An empty `bundleId` is none.
 */
export interface UpgradeForm {
  readonly bundleId: string;
  readonly clusters: readonly ChosenCluster[];
  /** A ResourceUpgradeSpec without its `resourceId` and `hosts`. */
  readonly common: Fields;
  readonly draftMode?: unknown;
  readonly parallelUpgrade?: unknown;
  readonly onPrecheckFailure?: unknown;
  readonly maintenanceWindow?: unknown;
  readonly netvirtUpgradeUserInputSpecs?: readonly Fields[];
  readonly mgmtUpgradeUserInputSpecs?: readonly Fields[];
  readonly reason?: unknown;
  readonly changeId?: unknown;
  readonly labels?: unknown;
}

/** A draft that begins at once when it is committed: the safe choice. */
export const emptyForm: UpgradeForm = { bundleId: "", clusters: [], common: { upgradeNow: true }, draftMode: true };

/** The fields of the request beside bundle and clusters, which the form keeps under the same names. */
export const requestFields = [
  "draftMode",
  "parallelUpgrade",
  "onPrecheckFailure",
  "maintenanceWindow",
  "netvirtUpgradeUserInputSpecs",
  "mgmtUpgradeUserInputSpecs",
  "reason",
  "changeId",
  "labels",
] as const satisfies readonly (keyof UpgradeForm)[];

/** How the fields of a cluster are put together on the page. `resourceId` and `hosts` are chosen, not typed. */
export const clusterFieldGroups = {
  when: ["upgradeNow", "scheduledTimestamp"],
  target: ["toVersion", "personalitySpec", "customIsoSpec"],
  rollout: ["rollout"],
  options: ["hostosUpgradeOptionsSpec"],
  older: ["shutdownVms", "enableQuickboot", "evacuateOfflineVms"],
} as const satisfies Record<string, readonly (keyof ResourceUpgradeSpec)[]>;

/**
 * The form with another value at a path; undefined takes it away. The fields of clusters stay, even when none is left:
 * a cluster with no field of its own is not one that has those of the others.
 */
export function changed(form: UpgradeForm, path: FieldPath, value: unknown): UpgradeForm {
  const base = path.slice(0, path[0] === "common" ? 1 : path[0] === "clusters" ? 3 : 0);
  if (path.length <= base.length) return withValueAt(form, path, value) as UpgradeForm;
  const inner = withValueAt(valueAt(form, base), path.slice(base.length), value) ?? {};
  return withValueAt(form, base, inner) as UpgradeForm;
}
