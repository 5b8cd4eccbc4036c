/** How much the API of one process takes on; the variables LOAD_* and RATE_LIMIT_* (docs/configuration.md). */
export interface LoadLimits {
  /** How many requests of a kind are worked on at a time: new upgrades. */
  readonly starts: number;
  /** What is done to upgrades. */
  readonly steering: number;
  /** Single tasks and upgrades; as many streams of events may be opened. */
  readonly reads: number;
  /** Lists; as many requests may ask component managers. */
  readonly lists: number;
  /** How long a request may wait for its turn, in milliseconds. */
  readonly waitMilliseconds: number;
  /** How many changes of a kind, and how many reads, one caller may send in a minute; 0 is any number. */
  readonly changesPerMinute: number;
  readonly readsPerMinute: number;
}
