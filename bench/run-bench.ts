import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import Table from "cli-table3";
import { starts } from "./figures/starts";
import { orchestration } from "./figures/orchestration";
import { isReached, ratioOf, type Experiment, type Measured } from "./figure";
import { onStage } from "./stage";

const experiments: readonly Experiment[] = [starts, orchestration];

void main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { quick: { type: "boolean" }, json: { type: "string" }, only: { type: "string", multiple: true } },
  });
  const quick = values.quick ?? false;
  const measured: Measured[] = [];
  for (const experiment of experiments.filter(({ name }) => values.only?.includes(name) ?? true)) {
    process.stderr.write(`${experiment.name} …\n`);
    measured.push(...(await onStage(experiment.needs(quick), (stage) => experiment.run(stage, quick))));
  }
  const table = new Table({ head: ["figure", "value", "reference", "ratio", "to reach", ""] });
  for (const one of measured) table.push(rowOf(one));
  console.log(table.toString());
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(measured, undefined, 2)}\n`);
}

function rowOf(measured: Measured): string[] {
  const { figure, value, reference, unit, target } = measured;
  const written = (number: number) => `${number >= 100 ? number.toFixed(0) : number.toPrecision(3)} ${unit}`;
  return [
    figure,
    written(value),
    reference === undefined ? "" : written(reference),
    ratioOf(measured).toFixed(2),
    target.atLeast === undefined ? `<= ${target.atMost}` : `>= ${target.atLeast}`,
    isReached(measured) ? "reached" : "not reached",
  ];
}
