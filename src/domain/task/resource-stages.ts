import type { ErrorBody } from "../errors";
import type { Stage, StageStatus, SubTask } from "../spec/task";

/** What happens to a stage of a resource; `S` are the types of its stages. */
export type StageProgress<S extends string> =
  | { readonly type: "StageStarted" | "StageSucceeded"; readonly stage: S }
  | { readonly type: "StageFailed"; readonly stage: S; readonly error: ErrorBody };

/** A stage that has begun is still to come: nothing of it was done. */
export interface StageLeft<S extends string> {
  readonly type: "StageLeft";
  readonly stage: S;
}

/** A resource whose stage has begun or ended at `at`, a Timestamp; as it is where the stage is in another status. */
export function applyStageProgress(
  subTask: SubTask,
  progress: StageProgress<string> | StageLeft<string>,
  at: string,
): SubTask {
  switch (progress.type) {
    case "StageStarted": {
      const started = withStage(subTask, progress.stage, "PENDING", (stage) => ({ ...stage, status: "IN_PROGRESS" }));
      return { ...started, status: "IN_PROGRESS" };
    }
    case "StageSucceeded":
      return withStage(subTask, progress.stage, "IN_PROGRESS", (stage) => ({
        ...stage,
        status: "SUCCESSFUL",
        completionTimestamp: at,
      }));
    case "StageLeft":
      return withStage(subTask, progress.stage, "IN_PROGRESS", (stage) => ({ ...stage, status: "PENDING" }));
    case "StageFailed":
      return withStage(subTask, progress.stage, "IN_PROGRESS", (stage) => ({
        ...stage,
        status: "FAILED",
        completionTimestamp: at,
        errors: [progress.error],
      }));
  }
}

/** A fresh list of stages, all of them to come. */
export function stagesOf(stages: Readonly<Record<string, string>>, at: string): Stage[] {
  return Object.entries(stages).map(([type, name]) => ({
    name,
    type,
    description: name,
    status: "PENDING",
    creationTimestamp: at,
  }));
}

/** Stages of something that has ended: those never begun are left out, one in progress failed with `error`. */
export function endStages(stages: readonly Stage[], at: string, error?: ErrorBody): Stage[] {
  return stages
    .filter((stage) => stage.status !== "PENDING")
    .map((stage) =>
      stage.status === "IN_PROGRESS"
        ? { ...stage, status: "FAILED", completionTimestamp: at, ...(error && { errors: [error] }) }
        : stage,
    );
}

/** A stage changed, where it is in the status from which the change happens. */
function withStage(subTask: SubTask, type: string, from: StageStatus, change: (stage: Stage) => Stage): SubTask {
  const applies = (stage: Stage) => stage.type === type && stage.status === from;
  return { ...subTask, stages: (subTask.stages ?? []).map((stage) => (applies(stage) ? change(stage) : stage)) };
}

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

/**
 * The attempt of a part, how far it is (0 to 100), its latest error, and one sentence on it: what it does, or when the
 * next one starts and why.
 */
export function attemptFields(
  pending: PendingAttempt<AttemptProgress>,
  percent?: number,
): Pick<SubTask, "description" | "attempt" | "maximumAttempts" | "progressPercent" | "errors"> {
  const { progress, nextAttemptAt, lastError = progress?.lastError } = pending;
  const maximumAttempts = progress?.maximumAttempts ?? pending.maximumAttempts;
  const attempt = (progress?.reportedFailures ?? 0) + 1;
  const attempts = { attempt, maximumAttempts };
  const errors = lastError && { errors: [lastError] };
  if (nextAttemptAt !== undefined) {
    const because = lastError?.message ?? "a failure";
    return {
      ...attempts,
      description: `Attempt ${attempt} of ${maximumAttempts} starts at ${nextAttemptAt}, after: ${because}`,
      ...errors,
    };
  }
  const done = percent === undefined ? "" : ` (${percent} %)`;
  const which = maximumAttempts > 1 ? ` (attempt ${attempt} of ${maximumAttempts})` : "";
  return {
    ...attempts,
    ...(percent !== undefined && { progressPercent: percent }),
    description: `${progress?.activity ?? "Waiting for a worker."}${done}${which}`,
    ...errors,
  };
}
