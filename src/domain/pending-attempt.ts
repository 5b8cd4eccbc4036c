import type { ErrorBody } from "./error-body";
import type { SubTask } from "./task";

/** What heartbeat details of every Activity with attempts tell; any kind of progress has at least this. */
interface AttemptProgress {
  readonly activity: string;
  readonly reportedFailures: number;
  readonly maximumAttempts?: number;
  readonly lastError?: ErrorBody;
}

/** What is known from outside of an Activity that is pending, between two events of its Workflow. */
export interface PendingAttempt<P extends AttemptProgress> {
  readonly progress?: P;
  readonly lastError?: ErrorBody;
  /** When the server tries again; absent while an attempt runs. */
  readonly nextAttemptAt?: string;
  /** As its retry policy says; what an earlier run of the Activity has used up is only in its progress. */
  readonly maximumAttempts: number;
}

/** Its latest error, where it has had one. */
export function lastErrorOf({ progress, lastError = progress?.lastError }: PendingAttempt<AttemptProgress>) {
  return lastError;
}

/** The attempt of a part, how far it is (0 to 100), and one sentence on it: what it does, or when the next one starts and why. */
export function attemptFields(
  pending: PendingAttempt<AttemptProgress>,
  percent?: number,
): Pick<SubTask, "description" | "attempt" | "maximumAttempts" | "progressPercent"> {
  const { progress, nextAttemptAt } = pending;
  const maximumAttempts = progress?.maximumAttempts ?? pending.maximumAttempts;
  const attempt = (progress?.reportedFailures ?? 0) + 1;
  const attempts = { attempt, maximumAttempts };
  if (nextAttemptAt !== undefined) {
    const because = lastErrorOf(pending)?.message ?? "a failure";
    return {
      ...attempts,
      description: `Attempt ${attempt} of ${maximumAttempts} starts at ${nextAttemptAt}, after: ${because}`,
    };
  }
  const done = percent === undefined ? "" : ` (${percent} %)`;
  const which = maximumAttempts > 1 ? ` (attempt ${attempt} of ${maximumAttempts})` : "";
  return {
    ...attempts,
    ...(percent !== undefined && { progressPercent: percent }),
    description: `${progress?.activity ?? "Waiting for a worker."}${done}${which}`,
  };
}
