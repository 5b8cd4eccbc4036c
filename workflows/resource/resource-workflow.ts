import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
} from "@temporalio/workflow";
import type { ErrorBody } from "../../src/domain/errors";
import { interrupted, type ResourceOutcome } from "../../src/domain/task/sub-task";
import { Timestamp } from "../../src/domain/timestamp";
import { errorOf, closureIn } from "../failures";
import { showStartsAt, showStartsNow } from "../list-columns";
import { BeginPayload, beginSignal, rescheduledSignal, type ResourceResult, windowsIgnoredSignal } from "../messages";
import type { EndDetails, ResourceState } from "./resource-state";

/** Any resource's state. */
type State<S extends string> = Pick<
  ResourceState<{ readonly type: string }, S>,
  "begun" | "checkAfterwards" | "end" | "ignoreWindows" | "pause" | "publish" | "record" | "reported" | "signals"
>;

/** How the upgrade of a resource has come to its end, and what the Web UI says of that. */
export interface ResourceEnding extends EndDetails {
  readonly outcome: ResourceOutcome;
  readonly doing: string;
}

/** What tells the Workflows of a cluster, a NETVIRT instance and a management server apart. */
interface Resource {
  /** What it is called in sentences, such as `Cluster Production`. */
  readonly title: string;
  /** Its upgrade, from its turn to its end. */
  upgrade(): Promise<ResourceEnding>;
  /** The error of a resource that was cancelled in mid-work and failed meanwhile; absent means that it was interrupted. */
  cancelledBy?(failure: unknown): ErrorBody | undefined;
}

/**
 * The life of a resource's Workflow. Its Workflow ID is the resource's lock: it is held from the start, also while the
 * resource waits for its turn. Closes as completed, failed or cancelled, with a {@link ResourceResult} in the result or in
 * the failure's details and the whole SubTask in its memo, and schedules nothing after that.
 */
export async function runResource(
  state: State<never>,
  { title, upgrade, cancelledBy }: Resource,
): Promise<ResourceResult> {
  const turn = { begun: false };
  state.signals.on(beginSignal, (payload) => {
    state.begun(BeginPayload.is(payload) ? payload : {});
    turn.begun = true;
  });
  state.signals.on(rescheduledSignal, (at) => {
    if (!turn.begun && (at === null || Timestamp.is(at))) showStartsAt(at ?? undefined);
  });
  state.signals.on(windowsIgnoredSignal, (ignored) => {
    if (ignored === true) state.ignoreWindows();
  });
  state.signals.dropOthers();
  state.publish("Waiting for its turn");
  try {
    await condition(() => turn.begun);
    await state.pause.pass();
    showStartsNow();
    const { outcome, doing, ...details } = await upgrade();
    await checkAfterwards(state, details);
    await CancellationScope.nonCancellable(() => state.reported());
    return state.end(outcome, doing, details);
  } catch (failure) {
    await CancellationScope.nonCancellable(() => state.reported());
    // Whatever failed last: the upgrade was cancelled, and that is how it ends.
    if (CancellationScope.current().consideredCancelled) {
      const error = turn.begun ? (cancelledBy?.(failure) ?? interrupted(title)) : undefined;
      state.end(turn.begun ? "CANCELLED" : "NOT_BEGUN", "Cancelled", { error });
      throw isCancellation(failure) ? failure : new CancelledFailure(`${title} was cancelled`);
    }
    const error = errorOf(failure);
    const result = state.end("FAILED", "Failed", { error });
    throw ApplicationFailure.nonRetryable(error.message, error.errorCode, result);
  }
}

/** What is upgraded is not undone by a cancellation while checks are asked after it; where one of them fails it, it keeps its warnings. */
async function checkAfterwards(state: State<never>, { error: warning }: EndDetails): Promise<void> {
  try {
    await state.checkAfterwards();
  } catch (failure) {
    if (isCancellation(failure)) return;
    if (!warning) throw failure;
    const error = { ...errorOf(failure), nestedErrors: [warning] };
    throw ApplicationFailure.nonRetryable(error.message, error.errorCode, { error });
  }
}

/** One stage of a resource, recorded from its beginning to its end. `title`: what is interrupted by a cancellation. */
export async function runStage<S extends string, T>(
  state: State<S>,
  stage: S,
  title: string,
  work: () => Promise<T>,
): Promise<T> {
  await endHereIfCancelled();
  state.record({ type: "StageStarted", stage });
  try {
    const result = await work();
    state.record({ type: "StageSucceeded", stage });
    return result;
  } catch (failure) {
    const error = isCancellation(failure) ? interrupted(title) : errorOf(failure);
    state.record(closureIn(failure) ? { type: "StageLeft", stage } : { type: "StageFailed", stage, error });
    throw failure;
  }
}

/**
 * Does the work, then restores what was changed for it, whatever happens in between: also after a failure and a
 * cancellation. `notRestored` makes the error of a restore that failed, from its cause and from what had failed before.
 */
export async function restoringAfterwards(
  work: () => Promise<void>,
  restore: () => Promise<void>,
  notRestored: (cause: unknown, before: { readonly cause: unknown } | undefined) => ApplicationFailure,
): Promise<void> {
  let failure: { readonly cause: unknown } | undefined;
  try {
    await work();
  } catch (cause) {
    failure = { cause };
  }
  await CancellationScope.nonCancellable(async () => {
    try {
      await restore();
    } catch (cause) {
      failure = { cause: notRestored(cause, failure) };
    }
  });
  if (failure) throw failure.cause;
}

/** The failure for what was left behind in a component manager, with all that went wrong before it. */
export function leftBehind(
  errorCode: string,
  { message, remediationMessage }: Pick<ErrorBody, "message" | "remediationMessage">,
  nestedErrors: ErrorBody[],
): ApplicationFailure {
  const error: ErrorBody = { errorCode, errorType: "FAILED_DEPENDENCY", message, nestedErrors };
  return ApplicationFailure.nonRetryable(message, errorCode, {
    error: { ...error, ...(remediationMessage !== undefined && { remediationMessage }) },
  });
}

/** What was in work may have come to a good end in spite of a cancellation; what follows is then not begun. */
export async function endHereIfCancelled(): Promise<void> {
  const { consideredCancelled, cancelRequested } = CancellationScope.current();
  if (consideredCancelled) await cancelRequested;
}
