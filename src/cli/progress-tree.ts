import { legible } from "../domain/legible";
import { readinessType } from "../domain/readiness/readiness-task";
import type { SubTask, Task, TaskStatus } from "../domain/spec/task";
import type { Upgrade } from "../domain/spec/upgrade";
import { isLeftOut } from "../domain/task/left-out";
import { precheckRunOf } from "../domain/task/prechecks";
import { exitCode, type ExitCode } from "./errors";
import { phaseWord, timeLeft } from "./phases";
import { coloured, cut, padded, type Style, symbolOf, wordOf } from "./text";

/** The room for a drawing, and when it is drawn (epoch milliseconds). */
export interface Canvas {
  readonly columns: number;
  readonly rows: number;
  readonly style: Style;
  readonly now: number;
  /** Said in the last line: that the connection is lost, for example. */
  readonly notice?: string | undefined;
  /** The facts of the upgrade whose Task it is. */
  readonly upgrade?: Upgrade | undefined;
}

interface Line {
  readonly depth: number;
  readonly part: SubTask;
  /** What it is a part of. */
  readonly above: Line | undefined;
  /** Lines that fall out last: what runs or has failed is what somebody looks for. */
  readonly rank: number;
}

/** In narrow terminals the bars give way to the names. */
const barWidthIn = (columns: number) => (columns < 80 ? 10 : 20);
const nameColumns = 36;

/**
 * A Task as nested progress bars: product, cluster, host, with the stage that runs. Never more than `rows` lines of
 * `columns` characters; where there is no room for all, what has failed and what runs stays, and the rest is counted.
 */
export function drawTask(task: Task, canvas: Canvas): string[] {
  const { style, columns, rows, notice } = canvas;
  const wait = task.waitingFor && [style.red(cut(`! ${legible(task.waitingFor.message)}`, columns))];
  const head = [
    style.bold(cut(headline(task), columns)),
    cut(summary(task, canvas.now, canvas.upgrade), columns),
    ...(wait ?? []),
  ];
  const foot = notice === undefined ? [] : [style.yellow(cut(notice, columns))];
  const lines = (task.subTasks ?? []).flatMap((part) => linesOf(part, 0));
  const room = Math.max(rows - head.length - foot.length, 0);
  const shown = mostImportant(lines, lines.length > room ? Math.max(room - 1, 0) : room);
  const left = lines.length - shown.length;
  return [
    ...head,
    ...shown.map((line) => drawPart(line, canvas)),
    ...(left > 0 && room > 0 ? [style.dim(cut(`  … and ${left} more`, columns))] : []),
    ...foot,
  ].slice(0, rows);
}

/** `In progress   0:12:33   hosts: 3/8 done, 1 running, 4 left`; what narrow terminals cut is said last. */
export function summary(task: Task, now: number, upgrade?: Upgrade): string {
  const { total, done, running, failed, leftOut } = countHosts(task.subTasks);
  const waiting = total - done - running - failed;
  const hosts =
    total > 0
      ? [
          `hosts: ${done}/${total} done`,
          ...(failed > 0 ? [`${failed} failed`] : []),
          ...(running > 0 ? [`${running} running`] : []),
          ...(waiting > 0 ? [`${waiting} left`] : []),
          ...(leftOut > 0 ? [`${leftOut} left out`] : []),
        ].join(", ")
      : task.type === readinessType || precheckRunOf(task.id)
        ? ""
        : "hosts: not read yet";
  const hasEnded = task.completionTimestamp !== undefined;
  const end = task.completionTimestamp === undefined ? now : Date.parse(task.completionTimestamp);
  const asOf = task.asOf === undefined ? "" : `   as of ${task.asOf}`;
  const word = upgrade && !hasEnded ? phaseWord(upgrade) : wordOf(task.status);
  // The facts of the upgrade may be older than the end of its Task.
  const left = upgrade && (!hasEnded || upgrade.phase === "ACTION_REQUIRED") ? timeLeft(upgrade, now) : undefined;
  const timeToEnd = left === undefined ? "" : `   ${left}`;
  return `${word}   ${duration(end - Date.parse(task.creationTimestamp))}   ${hosts}${timeToEnd}${asOf}`.trimEnd();
}

function duration(milliseconds: number): string {
  const seconds = Math.max(Math.floor(milliseconds / 1000), 0);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** A part, and what is in it where it runs or has failed; what has not begun or is over is one line. */
function linesOf(part: SubTask, depth: number, above?: Line): Line[] {
  const isOpen = part.status === "IN_PROGRESS" || part.status === "FAILED";
  const line: Line = { depth, part, above, rank: rankOf(part, depth) };
  const below = isOpen ? (part.subTasks ?? []).flatMap((one) => linesOf(one, depth + 1, line)) : [];
  return [line, ...below];
}

function rankOf({ status }: SubTask, depth: number): number {
  if (depth === 0) return 0;
  const order = { FAILED: 1, IN_PROGRESS: 2, PENDING: 3, SUCCESSFUL: 4, NOT_APPLICABLE: 5 };
  return order[status];
}

/** So many lines of the highest rank, each below what it is a part of, in the order in which they were. */
function mostImportant(lines: readonly Line[], count: number): Line[] {
  if (lines.length <= count) return [...lines];
  const kept = new Set<Line>();
  // The sort is stable: of two that matter as much, the first one comes first.
  for (const line of [...lines].sort((a, b) => a.rank - b.rank)) {
    const wanted: Line[] = [];
    for (let one: Line | undefined = line; one && !kept.has(one); one = one.above) wanted.push(one);
    if (kept.size + wanted.length <= count) wanted.forEach((one) => kept.add(one));
    if (kept.size === count) break;
  }
  return lines.filter((line) => kept.has(line));
}

function drawPart({ part, depth }: Line, { columns, style }: Canvas): string {
  const indent = "  ".repeat(depth);
  const symbol = coloured(style, part.status, symbolOf(part.status));
  const room = Math.max(columns - indent.length - 2, 0);
  const name = legible(part.name);
  if (part.subTasks === undefined) return `${indent}${symbol} ${cut(`${name}  ${detailOf(part)}`, room)}`;
  const { total, done } = countHosts(part.subTasks);
  const barWidth = barWidthIn(columns);
  const counted = total > 0 ? `  ${done}/${total}` : "";
  // Bars of all depths begin in one column.
  const nameWidth = Math.max(Math.min(nameColumns - indent.length, room - barWidth - 6 - counted.length), 0);
  if (nameWidth < 12) return `${indent}${symbol} ${cut(`${name}${counted}`, room)}`;
  const fraction = fractionOf(part);
  const percent = `${Math.floor(fraction * 100)}%`.padStart(4);
  const text = padded(cut(name, nameWidth), nameWidth);
  return `${indent}${symbol} ${text} ${coloured(style, part.status, bar(fraction, barWidth))} ${percent}${counted}`;
}

function bar(fraction: number, width: number): string {
  const full = Math.floor(fraction * width);
  return "█".repeat(full) + "░".repeat(width - full);
}

/** What a host does now, or why it has failed. */
function detailOf(part: SubTask): string {
  const error = part.errors?.at(-1);
  if (part.status === "FAILED" && error) return legible(error.message);
  const stage = part.stages?.find(({ status }) => status === "IN_PROGRESS");
  if (part.status === "IN_PROGRESS") return legible(stage ? `${stage.name} ${progressOf(part)}` : part.description);
  if (part.status === "NOT_APPLICABLE") return legible(part.description);
  return part.status === "PENDING" ? "" : wordOf(part.status);
}

/** How far a host is, such as `(46 %) (attempt 1 of 4)`. */
function progressOf({ progressPercent, attempt, maximumAttempts = 1 }: SubTask): string {
  const percent = progressPercent === undefined ? [] : [`(${progressPercent} %)`];
  const attempts = attempt !== undefined && maximumAttempts > 1 ? [`(attempt ${attempt} of ${maximumAttempts})`] : [];
  return [...percent, ...attempts].join(" ");
}

/** Where the upgrade stands in words: its name, and that it is paused, for example. */
export function headline({ name, localizableDescriptionPack }: Task): string {
  return legible(localizableDescriptionPack?.message ?? name);
}

/** How many hosts, or nodes, there are and how they are. */
export interface Counts {
  readonly total: number;
  readonly done: number;
  readonly running: number;
  readonly failed: number;
  /** Hosts that are not to be upgraded, which `total` does not count. */
  readonly leftOut: number;
}

const hostTypes = new Set(["HOST_UPGRADE", "NETVIRT_NODE_UPGRADE"]);

/** The hosts and nodes below some parts; parts that have none known yet count nothing. */
export function countHosts(parts: readonly SubTask[] = []): Counts {
  const counts = { total: 0, done: 0, running: 0, failed: 0, leftOut: 0 };
  const add = (part: SubTask): void => {
    if (part.type === "HOST_UPGRADE" && isLeftOut(part)) counts.leftOut += 1;
    else if (hostTypes.has(part.type)) {
      counts.total += 1;
      if (isDone(part)) counts.done += 1;
      if (part.status === "IN_PROGRESS") counts.running += 1;
      if (part.status === "FAILED") counts.failed += 1;
    }
    part.subTasks?.forEach(add);
  };
  parts.forEach(add);
  return counts;
}

/** How much of a part is done, from 0 to 1: by its hosts, else by its own parts and stages. */
function fractionOf(part: SubTask): number {
  if (isDone(part)) return 1;
  if (part.status === "PENDING" || part.status === "NOT_APPLICABLE") return 0;
  const { total, done } = countHosts(part.subTasks);
  if (total > 0 && !hostTypes.has(part.type)) return done / total;
  const parts = part.subTasks ?? [];
  if (parts.length > 0) return parts.reduce((sum, one) => sum + fractionOf(one), 0) / parts.length;
  const stages = part.stages ?? [];
  return stages.length > 0 ? stages.filter(({ status }) => status === "SUCCESSFUL").length / stages.length : 0;
}

/** One status stands for what need not be done and for what was not begun; the reason tells them apart. */
function isDone(part: SubTask): boolean {
  return part.status === "SUCCESSFUL" || part.reasonCode === "AT_TARGET" || isLeftOut(part);
}

/** What `upgradectl` ends with where a Task has ended so; `undefined` while it goes on. */
export function outcomeOf(status: TaskStatus): ExitCode | undefined {
  switch (status) {
    case "SUCCESSFUL":
    case "Successful":
    case "COMPLETED_WITH_WARNING":
    case "SKIPPED":
      return exitCode.successful;
    case "FAILED":
    case "Failed":
    case "CANCELLED":
    case "Cancelled":
      return exitCode.failed;
    case "PENDING":
    case "Pending":
    case "IN_PROGRESS":
    case "In Progress":
      return undefined;
  }
}

/** What can be done next about a Task in words; empty where nothing need be. */
export function nextStepOf({ id, status, isRetryable, errors, waitingFor }: Task): string {
  const prechecked = precheckRunOf(id)?.upgradeId;
  if (prechecked !== undefined && outcomeOf(status) === exitCode.successful)
    return `\`upgradectl commit ${prechecked}\`.`;
  const remediation = errors?.at(-1)?.remediationMessage;
  if (waitingFor?.code === "COMMIT") return `\`upgradectl commit ${id}\` starts it; \`--at TIME\` schedules it.`;
  if (waitingFor) return remediation ?? "";
  if (outcomeOf(status) !== exitCode.failed) return "";
  if (prechecked !== undefined)
    return `\`upgradectl prechecks ${prechecked} --watch\` when this is done: ${remediation ?? "Fix what failed."}`;
  if (!isRetryable) return remediation ?? "Start a new upgrade once everything is in order.";
  return `\`upgradectl retry ${id}\` when this is done: ${remediation ?? "Fix what failed."}`;
}
