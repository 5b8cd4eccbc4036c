import { createColors } from "picocolors";
import stringWidth from "string-width";
import { stringify } from "yaml";
import { illegible, legible } from "../domain/legible";
import type { StageStatus, SubTaskStatus, TaskStatus } from "../domain/spec/task";
import type { UpgradeStatus } from "../domain/spec/upgrade";
import type { Environment, Output } from "./environment";

/** Functions that put a text into a colour, or leave it as it is. */
export type Style = ReturnType<typeof createColors>;

/** Colours for an output: only for a terminal that has them, and not where NO_COLOR asks for none. */
export function styleFor({ isTTY }: Output, { env }: Pick<Environment, "env">): Style {
  return createColors(isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb");
}

/** A status in its colour. The word stays, so that the colour is never the only difference. */
export function coloured(style: Style, status: string, text = status): string {
  switch (status.toUpperCase().replace(" ", "_")) {
    case "SUCCESSFUL":
    case "COMPLETED_WITH_SUCCESS":
    case "SUCCEEDED":
      return style.green(text);
    case "FAILED":
    case "COMPLETED_WITH_FAILURE":
    case "ACTION_REQUIRED":
    case "PRECHECKS_FAILED":
      return style.red(text);
    case "IN_PROGRESS":
    case "INPROGRESS":
    case "RUNNING":
      return style.cyan(text);
    case "PAUSED":
    case "CANCELLED":
    case "COMPLETED_WITH_WARNING":
    case "SUCCEEDED_WITH_WARNINGS":
    case "PAUSING":
    case "CANCELLING":
      return style.yellow(text);
    default:
      return style.dim(text);
  }
}

const symbols: Record<SubTaskStatus, string> = {
  PENDING: "·",
  IN_PROGRESS: "▶",
  SUCCESSFUL: "✔",
  FAILED: "✖",
  NOT_APPLICABLE: "–",
};

/** One character for the status of a part. */
export function symbolOf(status: SubTaskStatus | StageStatus): string {
  return symbols[status];
}

/** A status as a word for people: `In progress`. */
export function wordOf(status: SubTaskStatus | TaskStatus | UpgradeStatus): string {
  const words = status.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const characters = new Intl.Segmenter();

/** How many columns of a terminal a text takes: wide characters take two, colours none. */
function widthOf(text: string): number {
  return isPlain(text) ? text.length : stringWidth(text);
}

/** The text, without colours, in so many columns; an ellipsis says that there is more. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let room = width - 1;
  if (room < 0) return "";
  let kept = "";
  for (const { segment } of characters.segment(text)) {
    room -= widthOf(segment);
    if (room < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The text, filled up with spaces to so many columns. */
export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(width - widthOf(text), 0));
}

/** Most lines are, and need no look at each of their characters. */
function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** A value as JSON that steers no terminal: what is {@link illegible} is escaped, so the value stays the same; line breaks stay. */
export function printableJson(value: unknown, indent?: number): string {
  return escaped(JSON.stringify(value, null, indent));
}

/** The same as YAML, whose quoted texts have the escapes of JSON. */
export function printableYaml(value: unknown): string {
  const options = { defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN", lineWidth: 0 } as const;
  return escaped(stringify(value, { ...options, aliasDuplicateObjects: false }));
}

function escaped(text: string): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(illegible, (run) => run.replace(/[^\n]/g, escape));
}

/** What may be done to a table that is wider than the terminal, in this order. */
export interface TableRoom {
  /** Of the terminal; absent where the output is none, then nothing is left out. */
  readonly columns?: number | undefined;
  /** Headings of columns whose cells may be cut. */
  readonly elastic?: readonly string[];
  /** Headings of columns that may be left out, the first one first. */
  readonly optional?: readonly string[];
}

const gap = 2;
const leastElastic = 12;

/**
 * Rows below their headings, in columns without borders. Cells may be coloured; `plain` makes one of foreign text.
 * Where a terminal is too narrow for columns, each row becomes lines of heading and cell, and nothing is cut.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { columns = Infinity, elastic = [], optional = [] }: TableRoom = {},
): string[] {
  const widths = headings.map((heading, i) => Math.max(widthOf(heading), ...rows.map((row) => widthOf(row[i] ?? ""))));
  const least = widths.map((width, i) =>
    elastic.includes(headings[i] ?? "") ? Math.min(width, Math.max(leastElastic, widthOf(headings[i] ?? ""))) : width,
  );
  let shown = headings.map((_, i) => i);
  for (const heading of optional) {
    if (total(shown, least) <= columns) break;
    shown = shown.filter((i) => headings[i] !== heading);
  }
  if (total(shown, least) > columns) return records(headings, rows);
  for (const i of shown) {
    const tooMuch = total(shown, widths) - columns;
    if (tooMuch > 0) widths[i] = Math.max(least[i] ?? 0, (widths[i] ?? 0) - tooMuch);
  }
  return [headings, ...rows].map((row) =>
    shown
      .map((i) => padded(cut(row[i] ?? "", widths[i] ?? 0), widths[i] ?? 0))
      .join(" ".repeat(gap))
      .trimEnd(),
  );
}

function total(shown: readonly number[], widths: readonly number[]): number {
  return shown.reduce((sum, i) => sum + (widths[i] ?? 0) + gap, -gap);
}

function records(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...headings.map(widthOf));
  return rows.flatMap((row, place) => [
    ...(place > 0 ? [""] : []),
    ...headings.map((heading, i) => `${padded(heading, width)}  ${row[i] ?? ""}`.trimEnd()),
  ]);
}

/** Foreign text as a cell: on one line, and a dash where there is none. */
export function plain(text: string | number | undefined): string {
  return text === undefined || text === "" ? "-" : legible(String(text));
}

/** A timestamp to the minute: `2036-01-06 02:00Z`. */
export function minute(timestamp: string | undefined): string {
  return timestamp === undefined ? "-" : `${new Date(timestamp).toISOString().slice(0, 16).replace("T", " ")}Z`;
}
