import type { Writable } from "node:stream";
import { type DestinationStream, symbols } from "pino";
import { warning } from "./role-log";

/** Milliseconds that a line waits for others at most. */
const longestHold = 20;

/**
 * Where a log's lines leave together: every write wakes up who reads them, which was an eighth of the API's work. A warning
 * or an error leaves at once, with all before it. A process that is killed loses what is held.
 */
export class HeldLines implements DestinationStream {
  /** Has pino set `lastLevel` before it writes a line. */
  readonly [symbols.needsMetadataGsym] = true;
  lastLevel = 0;
  private holding: NodeJS.Timeout | undefined;

  constructor(private readonly output: Writable) {}

  write(line: string): void {
    if (!this.holding) {
      this.output.cork();
      this.holding = setTimeout(() => this.release(), longestHold).unref();
    }
    this.output.write(line);
    if (this.lastLevel >= warning) this.release();
  }

  /** Sends what is held. */
  release(): void {
    if (!this.holding) return;
    clearTimeout(this.holding);
    this.holding = undefined;
    this.output.uncork();
  }
}
