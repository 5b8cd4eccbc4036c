import type { SubTask } from "../../domain/task";

/** From when to when a host was in work, in epoch milliseconds; without `end` it still is. */
export interface HostSpan {
  readonly begin: number;
  readonly end?: number;
}

/** The time that a host was in work; undefined of a host that has not begun. */
export function hostSpanOf({ status, stages = [], completionTimestamp }: SubTask): HostSpan | undefined {
  if (status === "PENDING" || status === "NOT_APPLICABLE") return undefined;
  const begun = stages.filter((stage) => stage.status !== "PENDING");
  if (begun.length === 0) return undefined;
  const begin = Math.min(...begun.map(({ creationTimestamp }) => Date.parse(creationTimestamp)));
  return { begin, ...(completionTimestamp !== undefined && { end: Math.max(begin, Date.parse(completionTimestamp)) }) };
}
