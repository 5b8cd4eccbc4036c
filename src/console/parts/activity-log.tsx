import { useState } from "preact/hooks";
import { activityWords } from "../../domain/activity/activity-words";
import { type ActivityEntry, PageOfActivity } from "../../domain/activity/upgrade-activity";
import { usePolled } from "../client/ask-api";
import { utcWords } from "../model/local-time";
import { ErrorNote } from "./error-note";

/** How many entries are shown at first. */
const shownAtFirst = 20;

/** Who asked what of an upgrade, and what happened to it, the latest first. Read now and then while `isOpen`. */
export function ActivityLog({ id, isOpen }: { readonly id: string; readonly isOpen: boolean }) {
  const { value, error } = usePolled(PageOfActivity, `/v1/upgrades/${id}/activity`, isOpen ? 3000 : 60_000);
  const [isWhole, setWhole] = useState(false);
  if (!value) return error ? <ErrorNote error={error} /> : <p class="small">Reading the activity…</p>;
  const { elements = [], dropped = 0, asOf } = value;
  const latest = elements.toReversed();
  const shown = isWhole ? latest : latest.slice(0, shownAtFirst);
  return (
    <>
      {error && <ErrorNote error={error} />}
      {asOf !== undefined && <p class="small">No worker answers now: this is the activity as of {localTime(asOf)}.</p>}
      <ol class="activity" reversed tabIndex={0} aria-label="Activity, the latest first">
        {shown.map((entry) => (
          <Entry key={entry.sequence} entry={entry} />
        ))}
      </ol>
      {shown.length < latest.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {latest.length} entries
        </button>
      )}
      {dropped > 0 && <p class="small">{dropped} entries after the first hundred are no longer kept.</p>}
    </>
  );
}

function Entry({ entry }: { readonly entry: ActivityEntry }) {
  const { what, result, reason, who, tone } = activityWords(entry, localTime);
  return (
    <li class={tone}>
      <time class="small" dateTime={entry.time} title={utcWords(entry.time)}>
        {localTime(entry.time)}
      </time>
      <span class="activity-words">
        {who !== "" && <strong>{who}: </strong>}
        {what}
        {result !== "" && ` – ${result}`}
        {reason !== "" && <span class="activity-reason">{reason}</span>}
      </span>
    </li>
  );
}

function localTime(timestamp: string): string {
  return new Date(timestamp).toLocaleString();
}
