import type { Product } from "../../domain/plan/upgrade-plan";
import type { Task } from "../../domain/spec/task";
import { formatTime, type TimeContext } from "../model/local-time";

const words = {
  CONNECTING: "Connecting…",
  LIVE: "Live",
  ENDED: "Ended",
  LOST: "Connection lost, trying again…",
  REFUSED: "Not followed",
};

/**
 * What to say of the line to the service. A failed upgrade that can be retried has not ended: somebody has to decide. A Task
 * that is read from what was last known is not live.
 */
export function lineWords(
  state: keyof typeof words,
  { isRetryable, asOf }: Pick<Task, "isRetryable" | "asOf">,
  times: TimeContext,
): string {
  if (state === "ENDED" && isRetryable === true) return "Waits for a decision";
  if (state === "LIVE" && asOf !== undefined)
    return `As of ${formatTime(Date.parse(asOf), times)}: the service has not answered since`;
  return words[state];
}

/** What products are called. */
export const productWords: Readonly<Record<Product, string>> = {
  NETVIRT: "Network virtualization",
  MGMT: "Management servers",
  HOSTOS: "Hosts",
};
