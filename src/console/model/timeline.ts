import { durationWords } from "../../domain/duration";
import type { SubTask, SubTaskStatus, Task } from "../../domain/spec/task";
import { clustersOf, hostSpanOf } from "./host-progress";
import type { TimeDisplay } from "./local-time";

/** One host in the picture; `from` and `to` are parts of the whole time, from 0 to 1. */
export interface TimelineBar {
  readonly host: string;
  readonly status: SubTaskStatus;
  readonly from: number;
  readonly to: number;
  /** Bars of one lane that overlap are drawn in rows of their own, counted from 0. */
  readonly row: number;
}

/** One cluster in the picture; its bars are in as many rows as overlap. */
export interface TimelineLane {
  readonly cluster: string;
  readonly rows: number;
  readonly bars: readonly TimelineBar[];
}

/** When which host was in work. `begin` and `end` are epoch milliseconds. */
export interface Timeline {
  readonly begin: number;
  readonly end: number;
  readonly lanes: readonly TimelineLane[];
}

/** The picture of an upgrade by cluster; undefined until a first host has begun. `now` ends what still runs. */
export function timelineOf(task: Task, now: number): Timeline | undefined {
  const clusters = clustersOf(task);
  const spans = clusters.map((cluster) => spansOf(cluster, now));
  const all = spans.flat();
  if (all.length === 0) return undefined;
  const begin = all.reduce((least, span) => Math.min(least, span.begin), Infinity);
  const end = all.reduce((most, span) => Math.max(most, span.end), begin + 1);
  const place = (at: number) => (at - begin) / (end - begin);
  const lanes = clusters.map((cluster, i): TimelineLane => {
    const busyUntil: number[] = [];
    const bars = (spans[i] ?? []).map((span) => {
      const free = busyUntil.findIndex((until) => until <= span.begin);
      const row = free === -1 ? busyUntil.length : free;
      busyUntil[row] = span.end;
      return { host: span.host, status: span.status, from: place(span.begin), to: place(span.end), row };
    });
    return { cluster: nameOf(cluster), rows: Math.max(1, busyUntil.length), bars };
  });
  return { begin, end, lanes };
}

function spansOf({ subTasks = [] }: SubTask, now: number) {
  return subTasks
    .flatMap((host) => {
      const span = hostSpanOf(host);
      return span
        ? [{ host: host.name, status: host.status, begin: span.begin, end: span.end ?? Math.max(now, span.begin) }]
        : [];
    })
    .sort((a, b) => a.begin - b.begin);
}

function nameOf({ name, resources = [] }: SubTask): string {
  return resources[0]?.name ?? name;
}

/** A mark on the axis of the picture; `place` is from 0 to 1. */
export interface AxisTick {
  readonly place: number;
  readonly label: string;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12].map((n) => n * hour),
  ...[1, 2, 7, 14, 28].map((n) => n * day),
];
const mostTicks = 6;

/**
 * Marks at round times between the begin and the end of a timeline: of the clock in a zone that is `zoneOffset` milliseconds
 * ahead of UTC, or where times are relative, since its begin.
 */
export function axisTicks({ begin, end }: Timeline, display: TimeDisplay, zoneOffset: number): AxisTick[] {
  const step =
    steps.find((one) => (end - begin) / one <= mostTicks) ?? Math.ceil((end - begin) / mostTicks / day) * day;
  const offset = display === "LOCAL" ? zoneOffset : 0;
  const first = display === "RELATIVE" ? begin : Math.ceil((begin + offset) / step) * step - offset;
  const count = Math.floor((end - first) / step) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => first + i * step).map((at) => ({
    place: (at - begin) / (end - begin),
    label:
      display === "RELATIVE" ? `+${at === begin ? "0" : durationWords(at - begin)}` : clockLabel(at + offset, step),
  }));
}

/** `moved` is a time of the zone as if that was UTC. */
function clockLabel(moved: number, step: number): string {
  const text = new Date(moved).toISOString();
  if (step >= day) return text.slice(5, 10);
  return text.slice(11, step < minute ? 19 : 16);
}
