import Table from "cli-table3";
import { printable } from "./task-parts";

/** Rows below their headings, in columns without borders. Cells may be coloured; `plain` makes one of foreign text. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const none = "";
  const drawn = new Table({
    head: [...headings],
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
    chars: {
      top: none,
      "top-mid": none,
      "top-left": none,
      "top-right": none,
      bottom: none,
      "bottom-mid": none,
      "bottom-left": none,
      "bottom-right": none,
      left: none,
      "left-mid": none,
      mid: none,
      "mid-mid": none,
      right: none,
      "right-mid": none,
      middle: none,
    },
  });
  drawn.push(...rows.map((row) => [...row]));
  return drawn
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
}

/** Foreign text as a cell: on one line, and a dash where there is none. */
export function plain(text: string | number | undefined): string {
  return text === undefined || text === "" ? "-" : printable(String(text));
}
