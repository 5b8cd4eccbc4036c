import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Experiment, Run } from "../experiment";
import { judgedNumber, type Measured } from "../figure";
import { measureAll } from "../measure-all";
import { makeCheckout } from "./make-checkout";
import { allMeans, type Edit, type Means } from "./means";

const folder = resolve(__dirname, "../../.data");

/** Is told what has been measured until now, and what could not be. */
export interface MeansAudience {
  measured(figures: readonly Measured[]): void;
  failed(what: string, error: unknown): void;
}

/**
 * Measures the service with all of its means and without each of some, in turns: all in their order, then all in the
 * reverse of it. Gives a figure for each number that shows a means, the service without it against the service with it.
 */
export async function measureMeans(chosen: readonly Means[], run: Run, audience: MeansAudience): Promise<Measured[]> {
  mkdirSync(folder, { recursive: true });
  const checkouts = mkdtempSync(join(folder, "bench-without-"));
  try {
    const measured: Measured[] = [];
    for (const experiment of new Set(chosen.map((means) => means.experiment))) {
      const shown = chosen.filter((means) => means.experiment === experiment);
      const measuredWithout = allMeans.filter(
        (one) => shown.includes(one) || shown.some(({ besides }) => besides === one.name),
      );
      for (const means of measuredWithout) await makeCheckout(editsWithout(means), join(checkouts, means.name));
      const order = [undefined, ...measuredWithout];
      const found = new Map<Means | undefined, Measured[]>();
      for (const means of [...order, ...[...order].reverse()]) {
        process.stderr.write(means ? `without ${means.name}: ` : "with all: ");
        const checkout = means && join(checkouts, means.name);
        const figures = await figuresOf(experiment, { ...run, ...(checkout !== undefined && { checkout }) }, audience);
        found.set(means, [...(found.get(means) ?? []), ...figures]);
      }
      const figuresWithout = (means: Means | undefined) => found.get(means) ?? [];
      for (const means of shown)
        measured.push(...compared(means, figuresWithout(means), figuresWithout(besidesOf(means))));
      audience.measured(measured);
    }
    return measured;
  } finally {
    rmSync(checkouts, { recursive: true, force: true });
  }
}

function besidesOf({ besides }: Means): Means | undefined {
  return allMeans.find(({ name }) => name === besides);
}

/** All that a service without a means is made by. */
export function editsWithout(means: Means): readonly Edit[] {
  return [...(besidesOf(means)?.edits ?? []), ...means.edits];
}

async function figuresOf(experiment: Experiment, run: Run, { failed }: MeansAudience): Promise<readonly Measured[]> {
  let figures: readonly Measured[] = [];
  await measureAll([experiment], run, {
    measured: (_, measured) => (figures = measured),
    failed: ({ name }, error) => failed(name, error),
  });
  return figures;
}

/** The figures that show a means: the mean of all runs without it against that of all with it. */
export function compared(means: Means, without: readonly Measured[], with_: readonly Measured[]): Measured[] {
  return means.shownBy.flatMap((id) => {
    const of = (figures: readonly Measured[]) => figures.filter((one) => one.id === id);
    const [first] = of(without);
    if (!first) return [];
    return {
      id: `${id}-without-${means.name}`,
      figure: `${first.figure}; ${means.without}`,
      value: mean(of(without).map(judgedNumber)),
      reference: mean(of(with_).map(judgedNumber)),
      unit: first.judged === "ratio" ? "x" : first.unit,
      judged: "ratio",
    };
  });
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
