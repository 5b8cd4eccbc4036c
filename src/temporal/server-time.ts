import type { temporal } from "@temporalio/proto";

type ServerTime = NonNullable<temporal.api.workflow.v1.IWorkflowExecutionInfo["closeTime"]>;

/** A time that the server tells, as the interface shows it (RFC 3339, UTC, milliseconds); undefined where it tells none. */
export function timestampOf(time: ServerTime | null | undefined): string | undefined {
  if (!time) return undefined;
  return new Date(Number(time.seconds ?? 0) * 1000 + Math.floor((time.nanos ?? 0) / 1e6)).toISOString();
}
