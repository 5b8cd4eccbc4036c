import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allowedStep, betterOf, ratiosOf, stepsOf, type Ratios } from "./compare-ratios";
import { costPlot } from "./cost-plot";
import { experiments } from "./experiments";
import type { Experiment, Run } from "./experiment";
import { isReached, judgedNumber, type Measured } from "./figure";
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

/** `npm run bench`; 1 where something could not be measured or `--quick` finds it worse than stored, 2 where an argument is wrong. */
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
  const ratios = stored()[server] ?? {};
  const found = new Map<Experiment, readonly Measured[]>();
  const failures: string[] = [];
  const figures = () => [...found.values()].flat();
  try {
    await measureAll(chosen, run, {
      measured: (experiment, measured) => {
        found.set(experiment, measured);
        if (json !== undefined) writeFileSync(json, jsonOf(figures(), run, server));
      },
      failed: ({ name }, error) => {
        console.error(error);
        failures.push(name);
      },
    });
    // What seems to be worse than stored is measured once more: a step has to be seen twice.
    const doubtful = quick && !store ? chosen.filter((one) => stepsOf(found.get(one) ?? [], ratios).length > 0) : [];
    await measureAll(doubtful, run, {
      measured: (experiment, again) => found.set(experiment, betterOf(found.get(experiment) ?? [], again)),
      failed: (_, error) => console.error(error),
    });
  } finally {
    if (postgres) await endSharedServer();
  }
  console.log(tableOf(figures()));
  if (json !== undefined) writeFileSync(json, jsonOf(figures(), run, server));
  if (plot !== undefined) writeFileSync(plot, plotOf(figures()));
  if (failures.length > 0) console.error(`Could not be measured: ${failures.join(", ")}`);
  if (quick && store) keep(server, ratiosOf(figures()));
  const steps = quick && !store && judge(figures(), ratios);
  return failures.length > 0 || steps ? 1 : 0;
}

/** Says which figures are worse than stored; whether there are any. */
function judge(measured: readonly Measured[], ratios: Ratios): boolean {
  const steps = stepsOf(measured, ratios);
  for (const { id, stored, now } of steps) console.error(`${id}: ${now.toFixed(2)}, which was ${stored.toFixed(2)}`);
  console.error(
    steps.length > 0
      ? `More than ${allowedStep * 100} % worse than stored: ${steps.map(({ id }) => id).join(", ")}`
      : `Nothing is more than ${allowedStep * 100} % worse than stored.`,
  );
  return steps.length > 0;
}

function stored(): Readonly<Record<string, Ratios>> {
  if (!existsSync(storedFile)) return {};
  return JSON.parse(readFileSync(storedFile, "utf8")) as Record<string, Ratios>;
}

function keep(server: string, ratios: Ratios): void {
  const all = stored();
  writeFileSync(storedFile, `${JSON.stringify({ ...all, [server]: { ...all[server], ...ratios } }, undefined, 2)}\n`);
}

function jsonOf(measured: readonly Measured[], { quick }: Run, server: string): string {
  const figures = measured.map((one) => ({ ...one, number: judgedNumber(one), reached: isReached(one) ?? null }));
  const machine = { node: process.version, processors: availableParallelism() };
  return `${JSON.stringify({ server, quick, ...machine, figures }, undefined, 2)}\n`;
}

function plotOf(measured: readonly Measured[]): string {
  const points = measured.flatMap(({ plotted, value, reference }) =>
    plotted && reference !== undefined
      ? [{ hosts: plotted.hosts, ours: value / 1000, reference: reference / 1000 }]
      : [],
  );
  if (points.length === 0) throw new Error("--plot needs the figure orchestration");
  return costPlot(points);
}
