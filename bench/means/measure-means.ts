import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Experiment, Run } from "../experiment";
import { judgedNumber, type Measured } from "../figure";
import { measureAll } from "../measure-all";
import { makeCheckout } from "./make-checkout";
import { allMeans, type Edit, type Means } from "./means";

const folder = resolve(__dirname, "../../.data/bench-without");

/** A figure of the service with a means and without it; the numbers of all runs, which are what the figure is judged by. */
export interface Shown {
  readonly means: string;
  /** The figure's own id and name. */
  readonly id: string;
  readonly figure: string;
  readonly unit: string;
  readonly with: readonly number[];
  readonly without: readonly number[];
}

/** Is told what has been measured until now, and what could not be. */
export interface MeansAudience {
  measured(shown: readonly Shown[]): void;
  failed(what: string, error: unknown): void;
}

/** The service with all of its means. */
const complete = "all";

/**
 * Measures the service with all of its means and without each of some, in turns: in their order, then in the reverse of it;
 * what takes less than minutes twice. Gives the figures that show a means, where all runs of both have given a number.
 */
export async function measureMeans(chosen: readonly Means[], run: Run, audience: MeansAudience): Promise<Shown[]> {
  // All from the same sources, before the first of them is measured. A run that was killed has left some.
  rmSync(folder, { recursive: true, force: true });
  try {
    const needed = allMeans.filter((one) => chosen.some((means) => means === one || means.besides === one.name));
    await makeCheckout([], join(folder, complete));
    for (const means of needed) await makeCheckout(editsWithout(means), join(folder, means.name));
    const shown: Shown[] = [];
    for (const experiment of new Set(chosen.map((means) => means.experiment))) {
      const names = [complete, ...needed.filter((one) => one.experiment === experiment).map(({ name }) => name)];
      const found = new Map<string, Measured[]>(names.map((name) => [name, []]));
      for (const name of turnsOf(names, experiment.slow ? 1 : 2)) {
        const service = name === complete ? "with all" : `without ${name}`;
        process.stderr.write(`${service}: `);
        const inCheckout = { ...run, checkout: join(folder, name) };
        found.get(name)?.push(...(await figuresOf(experiment, inCheckout, service, audience)));
      }
      for (const means of chosen.filter((one) => one.experiment === experiment)) {
        const [with_, without] = [found.get(means.besides ?? complete) ?? [], found.get(means.name) ?? []];
        shown.push(...compared(means, with_, without));
      }
      audience.measured(shown);
    }
    return shown;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** All of them, then all in the reverse order, so often. */
function turnsOf(names: readonly string[], often: number): string[] {
  const thereAndBack = [...names, ...[...names].reverse()];
  return Array.from({ length: often }, () => thereAndBack).flat();
}

/** All edits that a service without a means is made by. */
export function editsWithout(means: Means): readonly Edit[] {
  const besides = allMeans.find(({ name }) => name === means.besides);
  return [...(besides?.edits ?? []), ...means.edits];
}

/** None where they could not be measured. */
async function figuresOf(
  experiment: Experiment,
  run: Run,
  service: string,
  audience: MeansAudience,
): Promise<readonly Measured[]> {
  let figures: readonly Measured[] = [];
  const failed = (error: unknown) => audience.failed(`${experiment.name}, ${service}`, error);
  try {
    await measureAll([experiment], run, {
      measured: (_, measured) => (figures = measured),
      failed: (_, error) => failed(error),
    });
  } catch (error) {
    failed(error);
  }
  return figures;
}

/** The figures that show a means, without those of which one side has fewer numbers: a run has failed, and the rest is not in turns. */
export function compared(means: Means, with_: readonly Measured[], without: readonly Measured[]): Shown[] {
  return means.shownBy.flatMap((id) => {
    const of = (figures: readonly Measured[]) => figures.filter((one) => one.id === id);
    const numbers = { with: of(with_).map(judgedNumber), without: of(without).map(judgedNumber) };
    const [first] = of(without);
    if (!first || numbers.with.length !== numbers.without.length) return [];
    const unit = first.judged === "ratio" ? "x" : first.unit;
    return { means: means.name, id, figure: `${first.figure}; ${means.without}`, unit, ...numbers };
  });
}

/** Whether every run with the means came to another side than every run without it. */
export function isApart({ with: one, without: other }: Pick<Shown, "with" | "without">): boolean {
  return Math.max(...one) < Math.min(...other) || Math.max(...other) < Math.min(...one);
}
