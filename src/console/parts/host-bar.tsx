import { hostProgressOfTask } from "../model/host-progress";
import { plural } from "../model/labels";
import type { Task } from "../../domain/spec/task";

/** How far the hosts of an upgrade are: a bar, and the counts in words. */
export function HostBar({ task }: { readonly task: Task }) {
  const { total, done, running, failed, left, leftOut, unreadClusters } = hostProgressOfTask(task);
  const counts = [
    { term: "Done", tone: "good", count: done, words: `${done} of ${total}` },
    { term: "Running", tone: "running", count: running, words: String(running) },
    { term: "Failed", tone: "bad", count: failed, words: String(failed) },
    { term: "Left", tone: "off", count: left, words: String(left) },
  ];
  return (
    <>
      {total > 0 && (
        <>
          <div
            class="host-bar"
            role="progressbar"
            aria-label="Hosts done"
            aria-valuemin={0}
            aria-valuemax={total}
            aria-valuenow={done}
            aria-valuetext={`${done} of ${total} hosts done, ${running} running, ${failed} failed, ${left} left`}
          >
            {counts.map(
              ({ term, tone, count }) =>
                count > 0 && tone !== "off" && <span key={term} class={tone} style={{ flexGrow: count }} />,
            )}
            <span class="off" style={{ flexGrow: left }} />
          </div>
          <dl class="facts">
            {counts.map(({ term, tone, words }) => (
              <div key={term}>
                <dt>
                  <span class={`swatch ${tone}`} aria-hidden="true" /> {term}
                </dt>
                <dd>{words}</dd>
              </div>
            ))}
          </dl>
          {leftOut > 0 && (
            <p class="small">
              {plural(leftOut, "host")} {leftOut === 1 ? "is" : "are"} left out; the table of hosts says why.
            </p>
          )}
        </>
      )}
      {unreadClusters > 0 && (
        <p class="small">
          The hosts of {plural(unreadClusters, "cluster")} are counted when {unreadClusters === 1 ? "its" : "their"}{" "}
          turn comes.
        </p>
      )}
    </>
  );
}
