/** How a request ended: the status of its answer, or a connection that was closed without one. */
type Outcome = number | "closed";

/** What was sent and what came back, of all suites of this run; printed when the last of them has ended. */
class Tally {
  private readonly outcomes = new Map<string, Map<Outcome, number>>();
  private slowest = { milliseconds: 0, what: "nothing" };
  private readonly notes: string[] = [];

  /** Counts one request, or one connection that was opened only to be held. */
  count(kind: string, outcome: Outcome, milliseconds = 0): void {
    const ofKind = this.outcomes.get(kind) ?? new Map<Outcome, number>();
    this.outcomes.set(kind, ofKind.set(outcome, (ofKind.get(outcome) ?? 0) + 1));
    if (milliseconds > this.slowest.milliseconds) this.slowest = { milliseconds, what: kind };
  }

  /** Adds a line to what is printed at the end. */
  note(line: string): void {
    this.notes.push(line);
  }

  /** How many of a kind ended so. */
  of(kind: string, outcome: Outcome): number {
    return this.outcomes.get(kind)?.get(outcome) ?? 0;
  }

  /** One line for each kind, then all together. */
  toString(): string {
    const all = new Map<Outcome, number>();
    const lines = [...this.outcomes].map(([kind, ofKind]) => {
      for (const [outcome, times] of ofKind) all.set(outcome, (all.get(outcome) ?? 0) + times);
      return line(kind, ofKind);
    });
    const { milliseconds, what } = this.slowest;
    const slowest = `slowest answer that needs no time limit: ${Math.round(milliseconds)} ms (${what})`;
    return ["hostile requests and how they ended:", ...lines, line("all", all), slowest, ...this.notes].join("\n  ");
  }
}

function line(kind: string, outcomes: ReadonlyMap<Outcome, number>): string {
  const sent = [...outcomes.values()].reduce((sum, times) => sum + times, 0);
  const parts = [...outcomes].sort(([a], [b]) => String(a).localeCompare(String(b)));
  return `${kind}: ${sent} sent; ${parts.map(([outcome, times]) => `${outcome} ${times}`).join(", ")}`;
}

/** The one account that all suites of a run keep. */
export const tally = new Tally();

/** FUZZ_SEED: what random choices begin with. FUZZ_RUNS: how many random bodies; a seed and a number are one run. */
export const { seed, runs } = {
  seed: Number(process.env["FUZZ_SEED"] ?? 7),
  runs: Number(process.env["FUZZ_RUNS"] ?? 400),
};

after(() => process.stdout.write(`\n  ${tally}\n  FUZZ_SEED=${seed} FUZZ_RUNS=${runs} repeats the random part\n`));
