import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Benchmark, Run } from "./benchmark";
import { benchmarks } from "./benchmarks";
import { stopSharedServer } from "./fixture";
import { isReached, judgedNumber, type Measurement } from "./measurement";
import { findRegressions, findUnstored, pickBetter, tolerance, toRatios, type Ratios } from "./regressions";
import { formatTable } from "./report";
import { runBenchmarks } from "./run-benchmarks";

const storedFile = join(__dirname, "stored-ratios.json");

void main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);

/** `npm run bench`; 1 where a benchmark fails or `--quick` finds a regression, 2 where an argument is wrong. */
async function main(): Promise<number> {
  const { quick, postgres, only, store, json } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      postgres: { type: "boolean", default: false },
      store: { type: "boolean", default: false },
      json: { type: "string" },
      only: { type: "string", multiple: true },
    },
  }).values;
  const unknown = only?.find((name) => !benchmarks.some((one) => one.name === name));
  if (unknown !== undefined) {
    console.error(`There is no benchmark ${unknown}. There are: ${benchmarks.map(({ name }) => name).join(", ")}.`);
    return 2;
  }
  if (store && !quick) {
    console.error("--store needs --quick: the stored ratios are those of its sizes.");
    return 2;
  }
  const chosen = benchmarks.filter(({ name, slow }) => only?.includes(name) ?? !(quick && slow));
  const run: Run = { quick, postgres };
  try {
    return await measure(chosen, run, { store, json });
  } finally {
    if (postgres) await stopSharedServer();
  }
}

/** Where the results go beside the table. */
interface Results {
  readonly store: boolean;
  readonly json: string | undefined;
}

async function measure(chosen: readonly Benchmark[], run: Run, { store, json }: Results): Promise<number> {
  const server = run.postgres ? "PostgreSQL" : "SQLite";
  const ratios = readStored()[server] ?? {};
  const compares = run.quick && !store;
  const found = new Map<Benchmark, readonly Measurement[]>();
  const failures: string[] = [];
  const results = () => [...found.values()].flat();
  await runBenchmarks(chosen, run, {
    measured: (benchmark, measured) => {
      found.set(benchmark, measured);
      // An hour's work is not lost with the benchmark after it.
      if (json !== undefined) writeFileSync(json, formatJson(results(), server, run));
    },
    failed: ({ name }, error) => {
      console.error(error);
      failures.push(name);
    },
  });
  // What seems to be worse than stored is measured once more: a regression has to be seen twice.
  const doubtful = compares ? chosen.filter((one) => findRegressions(found.get(one) ?? [], ratios).length > 0) : [];
  await runBenchmarks(doubtful, run, {
    measured: (benchmark, again) => found.set(benchmark, pickBetter(found.get(benchmark) ?? [], again)),
    failed: (_, error) => console.error(error),
  });
  console.log(formatTable(results()));
  if (json !== undefined) writeFileSync(json, formatJson(results(), server, run));
  if (failures.length > 0) console.error(`Could not be measured: ${failures.join(", ")}`);
  if (store) writeStored(server, toRatios(results()));
  const isWorse = compares && reportRegressions(results(), ratios);
  return failures.length > 0 || isWorse ? 1 : 0;
}

/** Prints what is worse than stored; returns whether anything is. */
function reportRegressions(measured: readonly Measurement[], ratios: Ratios): boolean {
  const unstored = findUnstored(measured, ratios);
  if (unstored.length > 0) console.error(`Compared with nothing, --quick --store stores them: ${unstored.join(", ")}`);
  const regressions = findRegressions(measured, ratios);
  for (const { id, stored, now } of regressions)
    console.error(`${id}: ${now.toFixed(2)}, which was ${stored.toFixed(2)}`);
  console.error(
    regressions.length > 0
      ? `More than ${tolerance * 100} % worse than stored: ${regressions.map(({ id }) => id).join(", ")}`
      : `Nothing that is stored has become worse by more than ${tolerance * 100} %.`,
  );
  return regressions.length > 0;
}

function readStored(): Readonly<Record<string, Ratios>> {
  if (!existsSync(storedFile)) return {};
  return JSON.parse(readFileSync(storedFile, "utf8")) as Record<string, Ratios>;
}

function writeStored(server: string, ratios: Ratios): void {
  const all = readStored();
  writeFileSync(storedFile, `${JSON.stringify({ ...all, [server]: { ...all[server], ...ratios } }, undefined, 2)}\n`);
}

/** The results with what they were measured on. */
function formatJson(measured: readonly Measurement[], server: string, { quick }: Run): string {
  const measurements = measured.map((one) => ({
    ...one,
    number: judgedNumber(one),
    reached: isReached(one) ?? null,
  }));
  const machine = { node: process.version, processors: availableParallelism() };
  return `${JSON.stringify({ server, quick, ...machine, measurements }, undefined, 2)}\n`;
}
