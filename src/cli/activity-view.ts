import { activityWords } from "../domain/activity/activity-words";
import type { PageOfActivity } from "../domain/activity/upgrade-activity";
import { legible } from "../domain/legible";
import { minute, plain, type Style, table } from "./text";

/** An activity log: a row for each entry, and below it the reason why something was refused or failed. */
export function activityView(
  { elements = [], dropped = 0 }: PageOfActivity,
  style: Style,
  columns: number | undefined,
): string[] {
  const entries = elements.map((entry) => ({ time: entry.time, ...activityWords(entry, minute) }));
  const headings = ["TIME", "WHO", "WHAT", "RESULT"];
  const rows = entries.map(({ time, who, what, result }) => [minute(time), plain(who), plain(what), plain(result)]);
  const lines = table(headings, rows, { columns, elastic: ["WHAT", "WHO"] });
  const isNarrow = lines.length !== entries.length + 1;
  const shown = isNarrow
    ? table(
        [...headings, "REASON"],
        rows.map((row, i) => [...row, plain(entries[i]?.reason)]),
        { columns },
      )
    : lines.flatMap((line, i) => {
        const reason = entries[i - 1]?.reason ?? "";
        return reason === "" ? [line] : [line, style.red(`  ! ${legible(reason)}`)];
      });
  return dropped === 0 ? shown : [...shown, "", `${dropped} entries after the first hundred were dropped.`];
}
