import { useState } from "preact/hooks";
import { activityWords } from "../../domain/activity/activity-words";
import { type ActivityEntry, PageOfActivity } from "../../domain/activity/upgrade-activity";
import { usePolled } from "../client/ask-api";
import { timeDisplay } from "../client/time-display";
import { formatTime } from "../model/local-time";
import { ErrorNote } from "./error-note";
import { Moment } from "./moment";

/** How many entries are shown at first. */
const shownAtFirst = 20;

interface ActivityLogProps {
  readonly id: string;
  /** Whether something may still happen to the upgrade. */
  readonly isOpen: boolean;
  /** By the clock of the service, in epoch milliseconds. */
  readonly now: number;
}

/** Who asked what of an upgrade, and what happened to it, the latest first. Read now and then while `isOpen`. */
export function ActivityLog({ id, isOpen, now }: ActivityLogProps) {
  const { value, error } = usePolled(PageOfActivity, `/v1/upgrades/${id}/activity`, isOpen ? 3000 : 60_000);
  const [isWhole, setWhole] = useState(false);
  if (!value) return error ? <ErrorNote error={error} /> : <p class="small">Reading the activity…</p>;
  const { elements = [], dropped = 0, asOf } = value;
  const latest = elements.toReversed();
  const shown = isWhole ? latest : latest.slice(0, shownAtFirst);
  return (
    <>
      {error && <ErrorNote error={error} />}
      {asOf !== undefined && (
        <p class="small">
          No worker is answering: this is the activity as of <Moment at={Date.parse(asOf)} now={now} />.
        </p>
      )}
      <ol class="activity" reversed tabIndex={0} aria-label="Activity, the latest first">
        {shown.map((entry) => (
          <Entry key={entry.sequence} entry={entry} now={now} />
        ))}
      </ol>
      {shown.length < latest.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {latest.length} entries
        </button>
      )}
      {dropped > 0 && <p class="small">{dropped} entries after the first hundred were dropped.</p>}
    </>
  );
}

function Entry({ entry, now }: { readonly entry: ActivityEntry; readonly now: number }) {
  const timeOf = (timestamp: string) => formatTime(Date.parse(timestamp), { display: timeDisplay.value, now });
  const { what, result, reason, who, tone } = activityWords(entry, timeOf);
  return (
    <li class={tone}>
      <Moment at={Date.parse(entry.time)} now={now} />
      <span class="activity-words">
        {who !== "" && <strong>{who}: </strong>}
        {what}
        {result !== "" && ` – ${result}`}
        {reason !== "" && <span class="activity-reason">{reason}</span>}
      </span>
    </li>
  );
}
