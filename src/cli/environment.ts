import type { Readable } from "node:stream";

/** A stream that is written for people or scripts; a terminal has a size. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

/** All of the world that a command can see, so that tests can give it another one. */
export interface Environment {
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
  /**
   * Tells whoever draws on the terminal when it is somebody else's: `leave` before this process stops or ends, `back`
   * when it goes on. Gives the function that ends that.
   */
  holdTerminal(leave: () => void, back: () => void): () => void;
  /** Asks in the terminal, with "no" for a start. Only where the standard input is one. */
  confirm(question: string): Promise<boolean>;
  /** Resolves after so many milliseconds; rejects when interrupted. */
  wait(milliseconds: number): Promise<void>;
}
