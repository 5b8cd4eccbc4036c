import * as t from "io-ts";
import { model } from "../codec";
import { Timestamp } from "../timestamp";
import { type ChangeRecord, changeRecordOf } from "./change-record";
import { MaintenanceChoice } from "./upgrade-spec";

/**
 * That an upgrade waits neither for maintenance windows nor for change freezes of the inventory: who decided so, when and why.
 * An emergency stop holds for it as for any other.
 */
export const MaintenanceOverride = model({ reason: t.string, at: Timestamp }, { by: t.string });
export type MaintenanceOverride = t.TypeOf<typeof MaintenanceOverride>;

/** What answers tell of it. */
export const toldOverride = { maintenanceWindow: MaintenanceChoice, maintenanceOverride: MaintenanceOverride };

interface Overridden {
  readonly maintenanceOverride?: MaintenanceOverride | undefined;
}

/** Why things are done to an upgrade, for the audit trail: its change record and its override. */
export type UpgradeReasons = ChangeRecord & Overridden & { readonly maintenanceWindow?: "IGNORE" };

/** The same of an answer that tells them. */
export function reasonsOf(answer: ChangeRecord & Overridden): UpgradeReasons {
  return { ...changeRecordOf(answer), ...overrideOf(answer) };
}

/** The told fields alone; none where the upgrade keeps to the calendar. */
export function overrideOf({ maintenanceOverride }: Overridden) {
  return maintenanceOverride ? { maintenanceWindow: "IGNORE" as const, maintenanceOverride } : {};
}
