import { NativeConnection } from "@temporalio/worker";
import { oneLine } from "../startup-error";
import type { TemporalTarget } from "./connection";

/**
 * A worker's connection; tries again until `giveUpAfter` milliseconds have passed, then rejects with the last error.
 * `onFirstFailure` tells that it has to wait, and why.
 */
export async function connectWorker(
  { connection }: TemporalTarget,
  giveUpAfter: number,
  onFirstFailure: (error: unknown) => void,
): Promise<NativeConnection> {
  let failures = 0;
  const began = Date.now();
  for (;;) {
    try {
      return await NativeConnection.connect(connection);
    } catch (error) {
      if (Date.now() - began >= giveUpAfter) throw error;
      if (++failures === 1) onFirstFailure(error);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

/** Why a worker's connection failed: of the engine's nested Rust values only what the operating system said. */
export function connectProblem(error: unknown): string {
  const raw = oneLine(error);
  const said = [...raw.matchAll(/\b(?:message|error): "((?:[^"\\]|\\.)*)"/g)].at(-1)?.[1];
  return said ?? (raw.startsWith("tonic::") ? "no connection" : raw);
}
