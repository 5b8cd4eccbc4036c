import type { Finding, FindingSeverity } from "../../domain/spec/finding";
import type { Task } from "../../domain/spec/task";
import { isAcknowledged } from "../../domain/task/findings";
import type { StatusWords } from "./labels";

const ofSeverities: Record<FindingSeverity, StatusWords> = {
  ERROR: { tone: "bad", sign: "✕", word: "Error" },
  WARNING: { tone: "warning", sign: "!", word: "Warning" },
  INFO: { tone: "off", sign: "i", word: "Note" },
};

/** How a finding looks; one that is acknowledged blocks nothing. `now` in epoch milliseconds. */
export function wordsOfFinding(finding: Finding, now: number): StatusWords {
  const words = ofSeverities[finding.severity];
  return isAcknowledged(finding, now) ? { tone: "good", sign: "✓", word: `${words.word}, acknowledged` } : words;
}

/** Whether findings of a Task's latest prechecks can still be acknowledged. */
export function takesAcknowledgements({ status, resolutionStatus, isCancellable, isRetryable }: Task): boolean {
  if (status === "Failed") return resolutionStatus === "UNRESOLVED" && isRetryable === true;
  return isCancellable === true;
}

/** Whether a finding is offered to be acknowledged. `now` in epoch milliseconds. */
export function isOffered(finding: Finding, now: number): boolean {
  return finding.isAcknowledgeable && !isAcknowledged(finding, now);
}

/** What sends an acknowledgement of this finding alone. */
export function acknowledgementOf(
  { code, resourceId, hostId, subject }: Finding,
  { reason, until }: { readonly reason: string; readonly until?: string },
) {
  return {
    code,
    resourceId,
    ...(hostId !== undefined && { hostId }),
    ...(subject !== undefined && { subject }),
    reason,
    ...(until !== undefined && { until }),
  };
}
