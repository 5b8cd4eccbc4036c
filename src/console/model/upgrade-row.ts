import { durationWords, leftWords } from "../../domain/duration";
import type { Upgrade } from "../../domain/spec/upgrade";
import { shortList } from "./labels";

/** What a row says of a time: words, a moment (epoch milliseconds) that is shown as the reader wants it, and words again. */
export interface RowTime {
  readonly before: string;
  readonly at?: number;
  readonly after?: string;
}

/** Names of what is upgraded; their ids where it has not told names. */
export function resourceNames({ resources = [], resourceUpgradeSpecs = [] }: Upgrade): string {
  const names = resources.map(({ name, resourceId = "" }) => name ?? resourceId);
  return shortList(names.length > 0 ? names : resourceUpgradeSpecs.map(({ resourceId }) => resourceId));
}

/** When it begins, or began; of a draft when it was made. */
export function beginOf({ beginsAt, startedAt, createdAt }: Upgrade): RowTime {
  if (startedAt !== undefined) return { before: "began", at: Date.parse(startedAt) };
  if (beginsAt !== undefined) return { before: "begins", at: Date.parse(beginsAt) };
  return createdAt === undefined ? { before: "" } : { before: "created", at: Date.parse(createdAt) };
}

/** How long it still takes, has worked, or took; or until when somebody has to decide. `now` in epoch milliseconds. */
export function timeOf(upgrade: Upgrade, now: number): RowTime {
  const { phase, endTime, expectedEnd, decideBy, workSeconds = 0, workingSince } = upgrade;
  if (phase === "ACTION_REQUIRED" && decideBy !== undefined) return { before: "decide by", at: Date.parse(decideBy) };
  const working = workSeconds * 1000 + (workingSince === undefined ? 0 : Math.max(0, now - Date.parse(workingSince)));
  const worked = working > 0 ? `worked ${durationWords(working)}` : "";
  if (endTime !== undefined) return { before: "ended", at: endTime, ...(worked && { after: worked }) };
  if (expectedEnd !== undefined) return { before: leftWords(Date.parse(expectedEnd) - now) };
  return { before: worked };
}
