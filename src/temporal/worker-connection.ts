import { NativeConnection } from "@temporalio/worker";
import { type Clock, monotonicClock } from "../clock";
import { intervalAfter, type RetryIntervals } from "../domain/retry-intervals";
import { oneLine } from "../startup-error";
import type { TemporalTarget } from "./connection";

const connectTries: RetryIntervals = { initialInterval: 250, backoffCoefficient: 2, maximumInterval: 2_000 };

/**
 * A worker's connection; tries again until `giveUpAfter` milliseconds have passed, then rejects with the last error.
 * `onFirstFailure` tells that it has to wait, and why.
 */
export async function connectWorker(
  { connection }: TemporalTarget,
  giveUpAfter: number,
  onFirstFailure: (error: unknown) => void,
  clock: Clock = monotonicClock,
): Promise<NativeConnection> {
  const began = clock.now();
  for (let failures = 1; ; failures++) {
    try {
      return await NativeConnection.connect(connection);
    } catch (error) {
      if (clock.now() - began >= giveUpAfter) throw error;
      if (failures === 1) onFirstFailure(error);
      await clock.sleep(intervalAfter(failures, connectTries));
    }
  }
}

/** Why a worker's connection failed: of the engine's nested Rust values only what the operating system said. */
export function connectProblem(error: unknown): string {
  const raw = oneLine(error);
  const said = [...raw.matchAll(/\b(?:message|error): "((?:[^"\\]|\\.)*)"/g)].at(-1)?.[1];
  return said ?? (raw.startsWith("tonic::") ? "no connection" : raw);
}
