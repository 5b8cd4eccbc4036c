import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { experiments } from "./experiments";
import type { Experiment, Measured, Run, StagedExperiment } from "./figure";
import { tableOf } from "./report";
import { endSharedServer, onStage, type Stage } from "./stage";

void main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      postgres: { type: "boolean", default: false },
      json: { type: "string" },
      only: { type: "string", multiple: true },
    },
  });
  const { quick, postgres, only, json } = values;
  const unknown = only?.find((name) => !experiments.some((experiment) => experiment.name === name));
  if (unknown !== undefined) {
    console.error(`There is no figure ${unknown}. Figures: ${experiments.map(({ name }) => name).join(", ")}.`);
    return 2;
  }
  const chosen = experiments.filter(({ name, slow }) => only?.includes(name) ?? !(quick && slow));
  const run: Run = { quick, postgres };
  try {
    const measured = await measureAll(chosen, run);
    console.log(tableOf(measured));
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(measured, undefined, 2)}\n`);
    return 0;
  } finally {
    if (postgres) await endSharedServer();
  }
}

/** Experiments with the same needs share a service. */
async function measureAll(chosen: readonly Experiment[], run: Run): Promise<Measured[]> {
  const measured: Measured[] = [];
  const staged = new Map<string, StagedExperiment[]>();
  for (const experiment of chosen) {
    if ("runAlone" in experiment) measured.push(...(await said(experiment.name, () => experiment.runAlone(run))));
    else {
      const needs = JSON.stringify(experiment.needs(run));
      staged.set(needs, [...(staged.get(needs) ?? []), experiment]);
    }
  }
  for (const together of staged.values()) {
    const [first] = together;
    if (!first) continue;
    await onStage(first.needs(run), run.postgres, async (stage: Stage) => {
      for (const experiment of together)
        measured.push(...(await said(experiment.name, () => experiment.run(stage, run))));
    });
  }
  return measured;
}

async function said<A>(name: string, work: () => Promise<A>): Promise<A> {
  const began = Date.now();
  process.stderr.write(`${name} … `);
  const result = await work();
  process.stderr.write(`${Math.round((Date.now() - began) / 1000)} s\n`);
  return result;
}
