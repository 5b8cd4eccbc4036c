import { useMemo } from "preact/hooks";
import type { Task } from "../../domain/spec/task";
import { hostProgressOfTask, durationInWords } from "../model/host-progress";
import { wordsOfPart } from "../model/labels";
import { timelineOf } from "../model/timeline";

const width = 1000;
const rowHeight = 10;

/** When which host was in work, cluster by cluster. The tree says the same in words. */
export function TimelinePicture({ task, now }: { readonly task: Task; readonly now: number }) {
  // Every bar moves as time passes; thousands of them need not move every second.
  const until = hostProgressOfTask(task).total > 500 ? now - (now % 10_000) : now;
  const timeline = useMemo(() => timelineOf(task, until), [task, until]);
  if (!timeline) return <p class="small">No host has begun yet.</p>;
  return (
    <>
      <p class="small">
        {new Date(timeline.begin).toLocaleTimeString()} to {new Date(timeline.end).toLocaleTimeString()} (
        {durationInWords(timeline.end - timeline.begin)})
      </p>
      <ul class="timeline" tabIndex={0} aria-label="Hosts by cluster over time">
        {timeline.lanes.map(({ cluster, rows, bars }) => (
          <li key={cluster}>
            <span class="lane-name">{cluster}</span>
            <svg
              viewBox={`0 0 ${width} ${rows * rowHeight}`}
              preserveAspectRatio="none"
              height={rows * rowHeight}
              role="img"
              aria-label={`${bars.length} hosts of ${cluster} have begun`}
            >
              {bars.map(({ host, status, from, to, row }) => (
                <rect
                  key={host}
                  class={wordsOfPart(status).tone}
                  x={from * width}
                  y={row * rowHeight + 1}
                  width={Math.max(2, (to - from) * width)}
                  height={rowHeight - 2}
                >
                  <title>{`${host}: ${wordsOfPart(status).word}`}</title>
                </rect>
              ))}
            </svg>
          </li>
        ))}
      </ul>
    </>
  );
}
