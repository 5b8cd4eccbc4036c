import type { LostBecause } from "../domain/lost-upgrade";

/** How a Workflow execution ended that did not complete or was not cancelled; undefined otherwise. */
export function lostBecause(status: string): LostBecause | undefined {
  return status === "TERMINATED" || status === "TIMED_OUT" || status === "FAILED" ? status : undefined;
}
