/** What SQLite's driver answers, and Temporal writes to its log. */
const interrupted = "interrupted (9)";

/** Longest pause between two lines of the same breakdown, in milliseconds; 600 were seen. */
const pause = 2_000;

/** How long such lines have come when it is held for broken, in milliseconds. */
const patience = 5_000;

/**
 * Finds out from the log of the embedded server that its database is broken: SQLite's driver can be left so that
 * every later call is interrupted, for ever (docs/decisions/0034). Calls that succeed are not in the log.
 */
export class BrokenDatabase {
  private first = 0;
  private last = -Infinity;

  /** Whether it is broken, after a line that was written at `now` (milliseconds of any clock). */
  isToldBy(line: string, now: number): boolean {
    if (!line.includes(interrupted)) return false;
    if (now - this.last > pause) this.first = now;
    this.last = now;
    return now - this.first >= patience;
  }
}
