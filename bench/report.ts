import Table from "cli-table3";
import { isReached, judgedNumber, type Measured, type Target } from "./figure";
import { isApart, type Shown } from "./means/measure-means";

/** The table that is printed: each figure with its reference, what is judged, and whether the target is reached. */
export function tableOf(measured: readonly Measured[]): string {
  const table = new Table({
    head: ["figure", "value", "reference", "judged", "to reach", ""],
    style: { head: [], border: [] },
  });
  for (const one of measured) table.push(rowOf(one));
  return table.toString();
}

/** The table of what each means brings: a figure with and without it, from the smallest to the largest number of all runs. */
export function tableOfMeans(shown: readonly Shown[]): string {
  const table = new Table({
    head: ["means", "figure", "with", "without", ""],
    style: { head: [], border: [] },
  });
  for (const one of shown)
    table.push([
      one.means,
      one.figure,
      range(one.with, one.unit),
      range(one.without, one.unit),
      isApart(one) ? "" : "NOT TOLD APART",
    ]);
  return table.toString();
}

function range(numbers: readonly number[], unit: string): string {
  return `${written(Math.min(...numbers), "")} to ${written(Math.max(...numbers), unit)}`;
}

/** The cells of a figure's row. */
export function rowOf(measured: Measured): string[] {
  const { figure, value, reference, unit, judged, target } = measured;
  const reached = isReached(measured);
  const number = judgedNumber(measured);
  return [
    figure,
    written(value, unit),
    reference === undefined ? "" : written(reference, unit),
    judged === "ratio" ? `${number.toFixed(2)} x` : judged === "difference" ? `${written(number, unit)} more` : "",
    target ? writtenTarget(target, judged === "ratio" ? "x" : unit) : "",
    reached === undefined ? "" : reached ? "reached" : "MISSED",
  ];
}

function writtenTarget({ atLeast, atMost }: Target, unit: string): string {
  const bound = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
  return `${bound} ${unit}`.trim();
}

/** Three digits, which is more than a busy machine is good for. */
function written(number: number, unit: string): string {
  const digits = Math.abs(number) >= 100 || number === 0 ? number.toFixed(0) : number.toPrecision(3);
  return `${digits} ${unit}`.trim();
}
