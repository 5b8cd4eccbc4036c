/** How long repetitions are counted before they are told, in milliseconds. */
const reportedEvery = 10_000;

/** Texts that are watched at a time; whatever comes beside them is written as it comes. */
const maximumTexts = 200;

interface Watched<A> {
  /** How often it has come since it was last told, and the last of them. */
  count: number;
  last: A;
  readonly timer: NodeJS.Timeout;
}

/**
 * Lines that come again and again: the first is written at once, others of the same text are counted, and the last of them
 * is written with their number, every ten seconds at most. A server whose disk is full says so fifty times a second.
 */
export class RepeatedLines<A> {
  readonly #write: (line: A, repeated: number) => void;
  readonly #watched = new Map<string, Watched<A>>();

  /** `write` gets a line, and how often it has come since it was last written: 0 where that has not been so before. */
  constructor(write: (line: A, repeated: number) => void) {
    this.#write = write;
  }

  add(text: string, line: A): void {
    const watched = this.#watched.get(text);
    if (watched) {
      watched.count += 1;
      watched.last = line;
      return;
    }
    this.#write(line, 0);
    if (this.#watched.size >= maximumTexts) return;
    const timer = setInterval(() => this.#tell(text), reportedEvery);
    timer.unref();
    this.#watched.set(text, { count: 0, last: line, timer });
  }

  /** Tells what has been counted and not told; no more lines come. */
  end(): void {
    for (const text of this.#watched.keys()) this.#tell(text);
    for (const { timer } of this.#watched.values()) clearInterval(timer);
    this.#watched.clear();
  }

  /** Where it has not come again, its next line is a first one. */
  #tell(text: string): void {
    const watched = this.#watched.get(text);
    if (!watched) return;
    const { count, last, timer } = watched;
    watched.count = 0;
    if (count > 0) return this.#write(last, count);
    clearInterval(timer);
    this.#watched.delete(text);
  }
}
