import type { ErrorBody } from "./errors";
import { toTimestamp } from "./timestamp";

/** A domain and, where it or the cluster has one, the maintenance window outside of which nothing may begin there. */
export interface MaintenancePlace {
  /** Its id. */
  readonly domain: string;
  /** Id of the window in the inventory. */
  readonly maintenanceWindow?: string;
}

/** Where a cluster is, or the clusters of a NETVIRT instance. */
export function placeOf({ domain, maintenanceWindow }: MaintenancePlace): MaintenancePlace {
  return { domain, ...(maintenanceWindow !== undefined && { maintenanceWindow }) };
}

/** Whether something may begin at a moment, by the calendar of the inventory. Times are milliseconds since the epoch. */
export type Opening =
  | { readonly isOpen: true; readonly closesAt?: number }
  | {
      readonly isOpen: false;
      readonly because: "CHANGE_FREEZE" | "OUTSIDE_MAINTENANCE_WINDOW";
      /** The freeze or the window. */
      readonly id: string;
      /** Of the freeze. */
      readonly reason?: string;
      /** Absent where it does not open within two years. */
      readonly opensAt?: number;
    };

export type Closed = Extract<Opening, { readonly isOpen: false }>;

/** Why nothing may begin now by the calendar, and when it may. */
export function closedError({ because, id, reason, opensAt }: Closed): ErrorBody {
  const next = opensAt === undefined ? "It does not open within two years." : `It begins at ${toTimestamp(opensAt)}.`;
  const message =
    because === "CHANGE_FREEZE"
      ? `The inventory has a change freeze, ${id}: ${(reason ?? "").replace(/[.\s]+$/, "")}. ${next}`
      : `Outside maintenance window ${id}. ${next}`;
  return {
    errorCode: because,
    errorType: "CONFLICT",
    message,
    remediationMessage: "It continues by itself when it may.",
    context: { id: id.slice(0, 200), ...(opensAt !== undefined && { opensAt: toTimestamp(opensAt) }) },
  };
}
