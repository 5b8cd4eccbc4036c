import type { Task } from "../../domain/task";

const words = {
  CONNECTING: "Connecting…",
  LIVE: "Live",
  ENDED: "Ended",
  LOST: "Connection lost, trying again…",
  REFUSED: "Not followed",
};

/** What to say of the line to the service. A failed upgrade that can be retried has not ended: somebody has to decide. */
export function lineWords(state: keyof typeof words, { isRetryable }: Pick<Task, "isRetryable">): string {
  return state === "ENDED" && isRetryable === true ? "Waits for a decision" : words[state];
}
