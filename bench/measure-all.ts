import type { Experiment, Run, StagedExperiment } from "./experiment";
import type { Measured } from "./figure";
import { onStage } from "./stage";

/** Is told what an experiment has measured, or why it could not. */
export interface Audience {
  measured(experiment: Experiment, figures: readonly Measured[]): void;
  failed(experiment: Experiment, error: unknown): void;
}

/** Runs experiments one after another; those with the same needs share a service, unless they are to be alone. One that fails stops no other. */
export async function measureAll(chosen: readonly Experiment[], run: Run, audience: Audience): Promise<void> {
  const attempt = async (experiment: Experiment, work: () => Promise<readonly Measured[]>) => {
    const began = Date.now();
    process.stderr.write(`${experiment.name} … `);
    try {
      audience.measured(experiment, await work());
      process.stderr.write(`${Math.round((Date.now() - began) / 1000)} s\n`);
    } catch (error) {
      process.stderr.write("failed\n");
      audience.failed(experiment, error);
    }
  };
  const staged = new Map<string, StagedExperiment[]>();
  for (const experiment of chosen) {
    if ("runAlone" in experiment) await attempt(experiment, () => experiment.runAlone(run));
    else {
      const shared = experiment.alone ? experiment.name : JSON.stringify(experiment.needs(run));
      staged.set(shared, [...(staged.get(shared) ?? []), experiment]);
    }
  }
  for (const together of staged.values()) {
    const [first] = together;
    if (!first) continue;
    await onStage(first.needs(run), run, async (stage) => {
      for (const experiment of together) await attempt(experiment, () => experiment.run(stage, run));
    });
  }
}
