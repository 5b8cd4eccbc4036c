import * as t from "io-ts";
import type { ErrorBody } from "./errors";
import { toTimestamp } from "./timestamp";

/** A domain and, where it or the cluster has one, the maintenance window outside of which nothing may begin there. */
export interface MaintenancePlace {
  /** Its id. */
  readonly domain: string;
  /** Id of the window in the inventory. */
  readonly maintenanceWindow?: string;
  /** Neither window nor change freezes hold for it: somebody has overridden them. An emergency stop does. */
  readonly ignoresCalendar?: true;
  /** Resource ids of the clusters there whose hold keeps it from beginning. */
  readonly clusters?: readonly string[];
}

/** Where a cluster is, or the clusters of a NETVIRT instance. */
export function placeOf({ domain, maintenanceWindow }: Omit<MaintenancePlace, "ignoresCalendar">): MaintenancePlace {
  return { domain, ...(maintenanceWindow !== undefined && { maintenanceWindow }) };
}

/** Whether something may begin at a moment, by the calendar of the inventory. Times are milliseconds since the epoch. */
export type Opening =
  | {
      readonly isOpen: true;
      readonly closesAt?: number;
      /** When it opens again after that; absent where it does not close, or not open again within two years. */
      readonly opensAgainAt?: number;
    }
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

/** Why nothing may begin now by the calendar, and when it may. */
export function closedError({ because, id, reason, opensAt }: Extract<Opening, { readonly isOpen: false }>): ErrorBody {
  const next = opensAt === undefined ? "It does not open within two years." : `It begins at ${toTimestamp(opensAt)}.`;
  const message =
    because === "CHANGE_FREEZE"
      ? `The inventory has a change freeze, ${id}: ${(reason ?? "").replace(/[.\s]+$/, "")}. ${next}`
      : `Outside maintenance window ${id}. ${next}`;
  return {
    errorCode: because,
    errorType: "CONFLICT",
    message,
    remediationMessage: "No action required: it continues when this ends.",
    context: { id: id.slice(0, 200), ...(opensAt !== undefined && { opensAt: toTimestamp(opensAt) }) },
  };
}

/** Codes of errors that say that something may not begin now: emergency stops, the calendar of the inventory, and holds. */
const closures: ReadonlySet<string | undefined> = new Set([
  ...["FROZEN", "FREEZE_UNREADABLE"],
  ...["CHANGE_FREEZE", "OUTSIDE_MAINTENANCE_WINDOW"],
  ...["RESOURCE_HELD", "HOST_HELD"],
]);

/** Whether an error says that something may not begin now, and nothing else is wrong. */
export function isClosed({ errorCode }: Pick<ErrorBody, "errorCode">): boolean {
  return closures.has(errorCode);
}

/** Why something may not begin now, as it is told of what waits. */
export const Closed = t.intersection([
  t.type({ code: t.keyof({ FROZEN: null, WINDOW: null, HELD: null, CHECK: null }), message: t.string }),
  t.partial({
    /** When it ends by itself, where that is known; a Timestamp. */
    until: t.string,
  }),
]);
export type Closed = t.TypeOf<typeof Closed>;

/** What is waited for because of such an error. */
export function closedFor({
  errorCode,
  message,
  context,
}: Pick<ErrorBody, "errorCode" | "message" | "context">): Closed {
  const until = context?.["opensAt"] ?? context?.["until"];
  const why = { message, ...(until !== undefined && { until }) };
  if (errorCode === "RESOURCE_HELD") return { code: "HELD", ...why };
  const isCalendar = errorCode === "CHANGE_FREEZE" || errorCode === "OUTSIDE_MAINTENANCE_WINDOW";
  return { code: isCalendar ? "WINDOW" : "FROZEN", ...why };
}
