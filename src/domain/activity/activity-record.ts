import type { ActivityEntry, ActivityRecord, NewActivity } from "./upgrade-activity";

/** How many entries are kept: the first ones tell how it began, the latest what goes on. */
const keptAtBeginning = 100;
const keptEntries = 500;

/** The longest message and the longest name that are kept, in UTF-16 units: the record goes through one payload. */
const longestMessage = 500;
const longestName = 255;

/** What an upgrade starts with. */
export const emptyRecord: ActivityRecord = { entries: [], dropped: 0 };

/**
 * The record with a new entry. A refusal that repeats an earlier one, with only refusals in between, is counted there
 * instead: a script that asks again and again does not displace what has happened. Beyond 500 entries those after the
 * first hundred go, the oldest of them first.
 */
export function addActivity({ entries, dropped }: ActivityRecord, added: NewActivity): ActivityRecord {
  const entry = bounded(added);
  const same = earlierRefusal(entries, entry);
  if (same !== undefined) {
    const { repeated = 0, ...known } = same;
    const counted = { ...known, repeated: repeated + 1, lastTime: entry.time };
    return { entries: entries.map((one) => (one === same ? counted : one)), dropped };
  }
  const sequence = (entries.at(-1)?.sequence ?? 0) + 1;
  const all = [...entries, { sequence, ...entry }];
  if (all.length <= keptEntries) return { entries: all, dropped };
  const surplus = all.length - keptEntries;
  return {
    entries: [...all.slice(0, keptAtBeginning), ...all.slice(keptAtBeginning + surplus)],
    dropped: dropped + surplus,
  };
}

function earlierRefusal(entries: readonly ActivityEntry[], entry: NewActivity): ActivityEntry | undefined {
  if (entry.outcome !== "REFUSED") return undefined;
  const lastOther = entries.findLastIndex(({ outcome }) => outcome !== "REFUSED");
  return entries
    .slice(lastOther + 1)
    .find(
      ({ kind, actor, via, errorCode }) =>
        kind === entry.kind && actor === entry.actor && via === entry.via && errorCode === entry.errorCode,
    );
}

function bounded(entry: NewActivity): NewActivity {
  const { actor, message, errorCode, resourceName, hostId, hostName } = entry;
  return {
    ...entry,
    ...(actor !== undefined && { actor: cut(actor, longestName) }),
    ...(message !== undefined && { message: cut(message, longestMessage) }),
    ...(errorCode !== undefined && { errorCode: cut(errorCode, longestName) }),
    ...(resourceName !== undefined && { resourceName: cut(resourceName, longestName) }),
    ...(hostId !== undefined && { hostId: cut(hostId, longestName) }),
    ...(hostName !== undefined && { hostName: cut(hostName, longestName) }),
  };
}

/** Between characters: half of one would be no text. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
