import type { Upgrade } from "../../domain/spec/upgrade";
import { durationInWords } from "./host-progress";
import { shortList } from "./labels";

/** A moment in words, and exactly, for those who want to know. */
export interface Moment {
  readonly words: string;
  /** RFC 3339; absent where the words are all that is known. */
  readonly at?: string;
}

/** Names of what is upgraded; their ids where it has not told names. */
export function resourceNames({ resources = [], resourceUpgradeSpecs = [] }: Upgrade): string {
  const names = resources.map(({ name, resourceId = "" }) => name ?? resourceId);
  return shortList(names.length > 0 ? names : resourceUpgradeSpecs.map(({ resourceId }) => resourceId));
}

/** When it begins, or began; of a draft when it was made. `now` in epoch milliseconds. */
export function beginOf({ beginsAt, startedAt, createdAt }: Upgrade, now: number): Moment {
  if (startedAt !== undefined) return { words: `began ${ago(startedAt, now)}`, at: startedAt };
  if (beginsAt !== undefined) return { words: `begins ${inFuture(beginsAt, now)}`, at: beginsAt };
  return createdAt === undefined ? { words: "" } : { words: `created ${ago(createdAt, now)}`, at: createdAt };
}

/** How long it still takes, has worked, or took; or until when somebody has to decide. */
export function timeOf(upgrade: Upgrade, now: number): Moment {
  const { phase, endTime, expectedEnd, decideBy, workSeconds = 0, workingSince } = upgrade;
  if (phase === "ACTION_REQUIRED" && decideBy !== undefined)
    return { words: `decide ${inFuture(decideBy, now)}`, at: decideBy };
  const working = workSeconds * 1000 + (workingSince === undefined ? 0 : Math.max(0, now - Date.parse(workingSince)));
  if (endTime !== undefined) {
    const at = new Date(endTime).toISOString();
    return { words: `ended ${ago(at, now)}${working > 0 ? `, worked ${durationInWords(working)}` : ""}`, at };
  }
  if (expectedEnd !== undefined)
    return { words: `about ${durationInWords(Math.max(0, Date.parse(expectedEnd) - now))} left`, at: expectedEnd };
  return { words: working > 0 ? `works for ${durationInWords(working)}` : "" };
}

function inFuture(timestamp: string, now: number): string {
  const ahead = Date.parse(timestamp) - now;
  return ahead > 0 ? `in ${roughly(ahead)}` : "now";
}

function ago(timestamp: string, now: number): string {
  const past = now - Date.parse(timestamp);
  return past < 60_000 ? "just now" : `${roughly(past)} ago`;
}

/** `40 s`, `12 min`, `3 h 05 min`, `1 d 18 h`. */
function roughly(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return `${Math.max(1, Math.round(milliseconds / 1000))} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, "0")} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
