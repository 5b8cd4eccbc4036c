/** What is counted. */
type Group = "commands" | "answers" | "faults" | "ends" | "acknowledgements";

/** What was done in a walk: the last steps with their times, and how often each thing was. */
export class Transcript {
  private readonly began = Date.now();
  private readonly steps: string[] = [];
  private readonly lastReads = new Map<string, string>();
  private readonly counted = new Map<string, Map<string, number>>();

  /** Steps that a failure shows. */
  constructor(private readonly kept = 60) {}

  say(who: string, what: string): void {
    const seconds = ((Date.now() - this.began) / 1000).toFixed(2).padStart(7);
    this.steps.push(`${seconds} s  ${who}: ${what}`);
    if (this.steps.length > this.kept) this.steps.shift();
  }

  /** A read is a step where it tells something else than the one before. */
  sayRead(who: string, what: string, told: string): void {
    const read = `${who}: ${what}`;
    if (this.lastReads.get(read) === told) return;
    this.lastReads.set(read, told);
    this.say(who, `${what} -> ${told}`);
  }

  count(group: Group, what: string): void {
    const counts = this.counted.get(group) ?? new Map<string, number>();
    this.counted.set(group, counts.set(what, (counts.get(what) ?? 0) + 1));
  }

  /** How often something was done. */
  countOf(group: Group, what: string): number {
    return this.counted.get(group)?.get(what) ?? 0;
  }

  get lastSteps(): string {
    return this.steps.join("\n");
  }

  /** A line for each group: how often each of its things was. */
  get counts(): string {
    return [...this.counted]
      .map(([group, counts]) => {
        const sorted = [...counts].sort(([a], [b]) => a.localeCompare(b));
        return `${group}: ${sorted.map(([what, count]) => `${count} x ${what}`).join(", ")}`;
      })
      .join("\n");
  }
}
