import { ActivityFailure, CancellationScope, sleep, TimeoutFailure } from "@temporalio/workflow";
import type { ActivityWaits } from "../src/domain/activity-waits";
import { mayStillArrive } from "./activity-failure";

/**
 * After an Activity that Temporal has given up by a time limit: waits until its worker, which may be frozen or cut off, can
 * change nothing any more in a component manager. Only then is it run again or its end told, also after a cancellation.
 * A worker that is stopped does not wait for what it has asked for; it says so, and it is waited for here. After any other
 * failure there is nothing to wait for: the Activity has ended in its worker.
 */
export async function waitForLeaseEnd(failure: unknown, waits: ActivityWaits): Promise<void> {
  const milliseconds = timeToAct(failure, waits);
  if (milliseconds <= 0) return;
  await CancellationScope.nonCancellable(() =>
    sleep(milliseconds, { summary: "until a lost worker can change nothing" }),
  );
}

/** Milliseconds in which it may still send a change that its lease allows, and then in which that may arrive. */
function timeToAct(failure: unknown, waits: ActivityWaits): number {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  const { heartbeatSeconds, callSeconds } = waits;
  if (mayStillArrive(failure)) return callSeconds * 1000;
  if (!(cause instanceof TimeoutFailure)) return 0;
  // The lease is shorter than the time after which the server misses a heartbeat.
  const leaseSeconds = cause.timeoutType === "HEARTBEAT" ? 0 : heartbeatSeconds;
  return (leaseSeconds + callSeconds) * 1000;
}
