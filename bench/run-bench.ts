import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allowedStep, betterOf, ratiosOf, stepsOf, type Ratios } from "./compare-ratios";
import { costPlot } from "./cost-plot";
import { experiments } from "./experiments";
import { isReached, judgedNumber, type Experiment, type Measured, type Run } from "./figure";
import { measureAll } from "./measure-all";
import { tableOf } from "./report";
import { endSharedServer } from "./stage";

const storedFile = join(__dirname, "stored-ratios.json");

void main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);

/** `npm run bench`; 1 where `--quick` finds a figure that has become worse, 2 where an argument is wrong. */
async function main(): Promise<number> {
  const { quick, postgres, only, json, plot, store } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      postgres: { type: "boolean", default: false },
      store: { type: "boolean", default: false },
      json: { type: "string" },
      plot: { type: "string" },
      only: { type: "string", multiple: true },
    },
  }).values;
  const unknown = only?.find((name) => !experiments.some((experiment) => experiment.name === name));
  if (unknown !== undefined) {
    console.error(`There is no figure ${unknown}. Figures: ${experiments.map(({ name }) => name).join(", ")}.`);
    return 2;
  }
  const chosen = experiments.filter(({ name, slow }) => only?.includes(name) ?? !(quick && slow));
  const run: Run = { quick, postgres };
  const server = postgres ? "PostgreSQL" : "SQLite";
  try {
    const measured =
      quick && !store ? await compared(chosen, run, server) : [...(await measureAll(chosen, run)).values()].flat();
    console.log(tableOf(measured));
    if (json !== undefined) writeFileSync(json, jsonOf(measured, run, server));
    if (plot !== undefined) writeFileSync(plot, plotOf(measured));
    if (!quick) return 0;
    if (store) return keep(server, ratiosOf(measured));
    return judge(measured, stored()[server] ?? {});
  } finally {
    if (postgres) await endSharedServer();
  }
}

/** What seems to be worse than stored is measured once more: a step has to be seen twice. */
async function compared(chosen: readonly Experiment[], run: Run, server: string): Promise<Measured[]> {
  const ratios = stored()[server] ?? {};
  const first = await measureAll(chosen, run);
  const doubtful = [...first].flatMap(([experiment, measured]) =>
    stepsOf(measured, ratios).length > 0 ? [experiment] : [],
  );
  const second = await measureAll(doubtful, run);
  return [...first].flatMap(([experiment, measured]) => betterOf(measured, second.get(experiment) ?? []));
}

function judge(measured: readonly Measured[], ratios: Ratios): number {
  const steps = stepsOf(measured, ratios);
  for (const { id, stored, now } of steps) console.error(`${id}: ${now.toFixed(2)}, which was ${stored.toFixed(2)}`);
  console.error(
    steps.length > 0
      ? `More than ${allowedStep * 100} % worse than stored: ${steps.map(({ id }) => id).join(", ")}`
      : `Nothing is more than ${allowedStep * 100} % worse than stored.`,
  );
  return steps.length > 0 ? 1 : 0;
}

function stored(): Readonly<Record<string, Ratios>> {
  if (!existsSync(storedFile)) return {};
  return JSON.parse(readFileSync(storedFile, "utf8")) as Record<string, Ratios>;
}

function keep(server: string, ratios: Ratios): number {
  const all = stored();
  writeFileSync(storedFile, `${JSON.stringify({ ...all, [server]: { ...all[server], ...ratios } }, undefined, 2)}\n`);
  return 0;
}

function jsonOf(measured: readonly Measured[], { quick }: Run, server: string): string {
  const figures = measured.map((one) => ({ ...one, number: judgedNumber(one), reached: isReached(one) ?? null }));
  const machine = { node: process.version, processors: availableParallelism() };
  return `${JSON.stringify({ server, quick, ...machine, figures }, undefined, 2)}\n`;
}

function plotOf(measured: readonly Measured[]): string {
  const points = measured.flatMap(({ plotted, value, reference }) =>
    plotted && reference !== undefined ? [{ hosts: plotted.hosts, ours: value, reference }] : [],
  );
  if (points.length === 0) throw new Error("--plot needs the figure orchestration");
  return costPlot(points);
}
