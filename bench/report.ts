import Table from "cli-table3";
import { isReached, judgedNumber, type Measurement, type Target } from "./measurement";

/** The table that is printed: each measurement with its reference, what is judged, and whether the target is reached. */
export function formatTable(measured: readonly Measurement[]): string {
  const table = new Table({
    head: ["measured", "value", "reference", "judged", "to reach", ""],
    style: { head: [], border: [] },
  });
  for (const one of measured) table.push(formatRow(one));
  return table.toString();
}

/** The cells of one row. */
export function formatRow(measurement: Measurement): string[] {
  const { title, value, reference, unit, judged, target } = measurement;
  const reached = isReached(measurement);
  const number = judgedNumber(measurement);
  return [
    title,
    formatNumber(value, unit),
    reference === undefined ? "" : formatNumber(reference, unit),
    judged === "ratio" ? `${number.toFixed(2)} x` : judged === "difference" ? `${formatNumber(number, unit)} more` : "",
    target ? formatTarget(target, judged === "ratio" ? "x" : unit) : "",
    reached === undefined ? "" : reached ? "reached" : "MISSED",
  ];
}

function formatTarget({ atLeast, atMost }: Target, unit: string): string {
  const bound = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
  return `${bound} ${unit}`.trim();
}

/** Three digits, which is more than a busy machine is good for. */
function formatNumber(number: number, unit: string): string {
  const digits = Math.abs(number) >= 100 || number === 0 ? number.toFixed(0) : number.toPrecision(3);
  return `${digits} ${unit}`.trim();
}
