import { cut, padded, widthOf } from "./fit";
import { printable } from "./printable";

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
  return text === undefined || text === "" ? "-" : printable(String(text));
}

/** A timestamp to the minute: `2036-01-06 02:00Z`. */
export function minute(timestamp: string | undefined): string {
  return timestamp === undefined ? "-" : `${new Date(timestamp).toISOString().slice(0, 16).replace("T", " ")}Z`;
}
