import type { Readable } from "node:stream";

/** A stream that is written for people or scripts; a terminal has a size. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** All of the world that a command can see, so that tests can give it another one. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** The result, and nothing else. */
  readonly stdout: Output;
  /** Messages for people. */
  readonly stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after so many milliseconds; rejects when interrupted. */
  wait(milliseconds: number): Promise<void>;
}
