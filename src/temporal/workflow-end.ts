import type { LostBecause } from "../domain/lost-upgrade";

const closedByItself: ReadonlySet<string> = new Set(["COMPLETED", "FAILED", "CANCELED"]);

/** Whether a Workflow execution has closed by itself, so that what it has published last is its last word. */
export function hasLastWord(status: string): boolean {
  return closedByItself.has(status);
}

/** How a Workflow execution ended that did not complete or was not cancelled; undefined otherwise. */
export function lostBecause(status: string): LostBecause | undefined {
  return status === "TERMINATED" || status === "TIMED_OUT" || status === "FAILED" ? status : undefined;
}
