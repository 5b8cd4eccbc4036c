import type { Task } from "../../domain/spec/task";
import {
  elapsedMilliseconds,
  hostProgressOfTask,
  remainingMilliseconds,
  durationInWords,
} from "../model/host-progress";
import { plural } from "../model/labels";

/** How far the hosts of an upgrade are, how long it has taken and about how long it still takes. */
export function OverallProgress({ task, now }: { readonly task: Task; readonly now: number }) {
  const { total, done, running, failed, left, unreadClusters } = hostProgressOfTask(task);
  const remaining = task.completionTimestamp === undefined ? remainingMilliseconds(task, now) : undefined;
  const hosts = [
    ["Done", `${done} of ${total}`],
    ["Running", String(running)],
    ["Failed", String(failed)],
    ["Left", String(left)],
  ] as const;
  const facts: readonly (readonly [string, string])[] = [
    ...(total > 0 ? hosts : []),
    [task.completionTimestamp === undefined ? "Elapsed" : "Took", durationInWords(elapsedMilliseconds(task, now))],
    ...(remaining === undefined ? [] : [["Still about", durationInWords(remaining)] as const]),
  ];
  return (
    <section class="card" aria-label="Overall progress">
      <progress value={done} max={Math.max(1, total)} aria-label={`${done} of ${total} hosts are done`} />
      <dl class="facts">
        {facts.map(([term, fact]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{fact}</dd>
          </div>
        ))}
      </dl>
      {unreadClusters > 0 && (
        <p class="small">
          The hosts of {plural(unreadClusters, "cluster")} are counted when {unreadClusters === 1 ? "its" : "their"}{" "}
          turn comes.
        </p>
      )}
    </section>
  );
}
