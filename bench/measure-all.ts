import type { Experiment, Measured, Run, StagedExperiment } from "./figure";
import { onStage } from "./stage";

/** Runs experiments one after another; those with the same needs share a service. Gives what each has measured. */
export async function measureAll(
  chosen: readonly Experiment[],
  run: Run,
): Promise<ReadonlyMap<Experiment, readonly Measured[]>> {
  const measured = new Map<Experiment, readonly Measured[]>();
  const staged = new Map<string, StagedExperiment[]>();
  for (const experiment of chosen) {
    if ("runAlone" in experiment) measured.set(experiment, await told(experiment.name, () => experiment.runAlone(run)));
    else {
      const needs = JSON.stringify(experiment.needs(run));
      staged.set(needs, [...(staged.get(needs) ?? []), experiment]);
    }
  }
  for (const together of staged.values()) {
    const [first] = together;
    if (!first) continue;
    await onStage(first.needs(run), run.postgres, async (stage) => {
      for (const experiment of together)
        measured.set(experiment, await told(experiment.name, () => experiment.run(stage, run)));
    });
  }
  return measured;
}

/** Says on stderr what goes on: it takes minutes. */
async function told<A>(name: string, work: () => Promise<A>): Promise<A> {
  const began = Date.now();
  process.stderr.write(`${name} … `);
  const result = await work();
  process.stderr.write(`${Math.round((Date.now() - began) / 1000)} s\n`);
  return result;
}
