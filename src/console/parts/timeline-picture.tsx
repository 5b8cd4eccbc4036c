import { useMemo } from "preact/hooks";
import type { Task } from "../../domain/spec/task";
import { hasTaskEnded } from "../../domain/task/lost-upgrade";
import { timeDisplay } from "../client/time-display";
import { hostProgressOfTask } from "../model/host-progress";
import { wordsOfPart } from "../model/labels";
import { durationWords } from "../../domain/duration";
import { axisTicks, timelineOf } from "../model/timeline";
import { Moment } from "./moment";

const width = 1000;
const rowHeight = 10;

/** When which host was in work, cluster by cluster, over an axis of times. The table of hosts says the same in words. */
export function TimelinePicture({ task, now }: { readonly task: Task; readonly now: number }) {
  // Every bar moves as time passes; thousands of them need not move every second.
  const until = hostProgressOfTask(task).total > 500 ? now - (now % 10_000) : now;
  const timeline = useMemo(() => timelineOf(task, until), [task, until]);
  if (!timeline) return <p class="small">{hasTaskEnded(task) ? "No host was started." : "No host has started yet."}</p>;
  const { begin, end, lanes } = timeline;
  const ticks = axisTicks(timeline, timeDisplay.value, -new Date(begin).getTimezoneOffset() * 60_000);
  return (
    <>
      <p class="small">
        <Moment at={begin} now={now} /> to <Moment at={end} now={now} /> ({durationWords(end - begin)})
      </p>
      <div class="axis" aria-hidden="true">
        <span class="lane-name">{timeDisplay.value === "RELATIVE" ? "Since its start" : ""}</span>
        <div class="ticks">
          {ticks.map(({ place, label }) => (
            <span
              key={label}
              style={{ left: `${place * 100}%` }}
              class={place > 0.9 ? "last" : place < 0.05 ? "first" : ""}
            >
              {label}
            </span>
          ))}
        </div>
      </div>
      <ul class="timeline" tabIndex={0} aria-label="Hosts by cluster over time">
        {lanes.map(({ cluster, rows, bars }) => (
          <li key={cluster}>
            <span class="lane-name">{cluster}</span>
            <svg
              viewBox={`0 0 ${width} ${rows * rowHeight}`}
              preserveAspectRatio="none"
              height={rows * rowHeight}
              role="img"
              aria-label={`${bars.length} hosts of ${cluster} have started`}
            >
              {ticks.map(({ place, label }) => (
                <line key={label} x1={place * width} x2={place * width} y1={0} y2={rows * rowHeight} />
              ))}
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
