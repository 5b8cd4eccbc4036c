import { beginTime } from "../plan/schedule";
import { resourcesOf, type UpgradePlan } from "../plan/upgrade-plan";
import { toTimestamp } from "../timestamp";
import { mostBytes, utf8Length } from "./search-terms";
import type { UpgradeFacts } from "./upgrade-facts";

/** Characters of a keyword that Temporal's SQL databases keep. */
const keywordLength = 255;

/** A text as a keyword of Temporal's Visibility. */
export function toKeyword(text: string): string {
  return withoutQuotes(text).slice(0, keywordLength);
}

/** Names for one column of a list: those that fit, then how many there are more. */
export function joinNames(names: readonly string[]): string {
  const shown: string[] = [];
  // Room for the last words, and for what JSON adds.
  let bytes = 50;
  for (const name of names.map(withoutQuotes)) {
    bytes += utf8Length(name) + 2;
    if (bytes > mostBytes) break;
    shown.push(name);
  }
  const more = names.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

/** The version that an upgrade is listed with. */
export function listedVersion({ bundle }: UpgradePlan): string {
  return toKeyword(bundle.version ?? bundle.id);
}

/** When the work of an upgrade begins by its schedule, or has begun; undefined where neither is so. A Timestamp. */
export function startsAt(plan: UpgradePlan, { startedAt }: Pick<UpgradeFacts, "startedAt">): string | undefined {
  if (startedAt !== undefined) return startedAt;
  const times = resourcesOf(plan)
    .map(beginTime)
    .filter((time) => time > 0);
  return times.length === 0 ? undefined : toTimestamp(Math.min(...times));
}

/** Visibility on SQLite fails for quotation marks and control characters. */
function withoutQuotes(text: string): string {
  return text.replace(/["\p{Cc}]/gu, " ");
}
