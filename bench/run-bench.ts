import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allowedStep, betterOf, ratiosOf, stepsOf, type Ratios } from "./compare-ratios";
import { costPlot } from "./cost-plot";
import { experiments } from "./experiments";
import type { Experiment, Run } from "./experiment";
import { isReached, judgedNumber, type Measured } from "./figure";
import { allMeans, type Means } from "./means/means";
import { measureMeans } from "./means/measure-means";
import { measureAll } from "./measure-all";
import { tableOf, tableOfMeans } from "./report";
import { endSharedServer } from "./stage";

/** As a name of `--without`: all means. */
const every = "every";

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
  const { quick, postgres, only, without, ...results } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      postgres: { type: "boolean", default: false },
      store: { type: "boolean", default: false },
      json: { type: "string" },
      plot: { type: "string" },
      only: { type: "string", multiple: true },
      without: { type: "string", multiple: true },
    },
  }).values;
  const means = allMeans.filter(
    ({ name, experiment }) =>
      (without?.includes(every) || without?.includes(name)) && (only?.includes(experiment.name) ?? true),
  );
  const wrong =
    unknownIn("figure", only ?? [], experiments) ??
    unknownIn("means", without ?? [], [...allMeans, { name: every }]) ??
    (without && wrongWithout(means, results));
  if (wrong !== undefined) {
    console.error(wrong);
    return 2;
  }
  const run: Run = { quick, postgres };
  try {
    return without ? await measureWithout(means, run, results) : await measureFigures(run, only, results);
  } finally {
    if (postgres) await endSharedServer();
  }
}

/** What to say of the first name that is not among those that there are. */
function unknownIn(what: string, names: readonly string[], known: readonly { readonly name: string }[]) {
  const unknown = names.find((name) => !known.some((one) => one.name === name));
  if (unknown === undefined) return undefined;
  return `There is no ${what} ${unknown}. There are: ${known.map(({ name }) => name).join(", ")}.`;
}

function wrongWithout(means: readonly Means[], { store, plot }: Results): string | undefined {
  if (store || plot !== undefined) return "--without goes with neither --store nor --plot.";
  return means.length === 0 ? "None of these means is shown by what --only names." : undefined;
}

/** Where the results go beside the table. */
interface Results {
  readonly store: boolean;
  readonly json?: string | undefined;
  readonly plot?: string | undefined;
}

async function measureFigures(run: Run, only: readonly string[] | undefined, results: Results): Promise<number> {
  const { quick } = run;
  const { store, json, plot } = results;
  const chosen = experiments.filter(({ name, slow }) => only?.includes(name) ?? !(quick && slow));
  const server = serverOf(run);
  const ratios = stored()[server] ?? {};
  const found = new Map<Experiment, readonly Measured[]>();
  const failures: string[] = [];
  const figures = () => [...found.values()].flat();
  await measureAll(chosen, run, {
    measured: (experiment, measured) => {
      found.set(experiment, measured);
      if (json !== undefined) writeFileSync(json, jsonOf(figures(), run));
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
  console.log(tableOf(figures()));
  if (json !== undefined) writeFileSync(json, jsonOf(figures(), run));
  if (plot !== undefined) writeFileSync(plot, plotOf(figures()));
  if (failures.length > 0) console.error(`Could not be measured: ${failures.join(", ")}`);
  if (quick && store) keep(server, ratiosOf(figures()));
  const steps = quick && !store && judge(figures(), ratios);
  return failures.length > 0 || steps ? 1 : 0;
}

/** What each of the means brings. */
async function measureWithout(means: readonly Means[], run: Run, { json }: Results): Promise<number> {
  const failures: string[] = [];
  const shown = await measureMeans(means, run, {
    measured: (measured) => {
      if (json !== undefined) writeFileSync(json, written({ means: measured }, run));
    },
    failed: (name, error) => {
      console.error(error);
      failures.push(name);
    },
  });
  console.log(tableOfMeans(shown));
  const missing = means.filter(({ name }) => !shown.some((one) => one.means === name)).map(({ name }) => name);
  const unmeasured = [...failures, ...missing];
  if (unmeasured.length > 0) console.error(`Could not be measured: ${unmeasured.join("; ")}`);
  return unmeasured.length > 0 ? 1 : 0;
}

function serverOf({ postgres }: Run): string {
  return postgres ? "PostgreSQL" : "SQLite";
}

/** Says which figures are worse than stored; whether there are any. */
function judge(measured: readonly Measured[], ratios: Ratios): boolean {
  if (Object.keys(ratios).length === 0) {
    console.error("Compared with nothing: no ratios are stored for this server. --quick --store stores them.");
    return false;
  }
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

function jsonOf(measured: readonly Measured[], run: Run): string {
  const figures = measured.map((one) => ({ ...one, number: judgedNumber(one), reached: isReached(one) ?? null }));
  return written({ figures }, run);
}

/** Results as a JSON file has them, with what they were measured on. */
function written(results: object, run: Run): string {
  const machine = { node: process.version, processors: availableParallelism() };
  return `${JSON.stringify({ server: serverOf(run), quick: run.quick, ...machine, ...results }, undefined, 2)}\n`;
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
