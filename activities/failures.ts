import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";
import type { ErrorBody } from "../src/domain/errors";
import type { RemediationFailure, RemediationProgress } from "../src/domain/task/host-remediation";
import { type ActivityProgress, type FailureDetails, workerShutdown } from "./contract";
import { bounded, DriverError } from "./drivers/driver-error";

/** Flat facts of an error for its reader, such as cluster and host. */
export type FailureContext = Readonly<Record<string, string>>;

type AnyDetails = FailureDetails<ActivityProgress>;

/** Bytes of JSON that the details of one failure may take: the server cuts failures of more than 4 KiB. */
const maximumDetails = 2_800;

/** Any error as the body that clients see: DriverErrors as they are judged, others as unforeseen ones. */
export function errorBodyOf(error: unknown, context: FailureContext): ErrorBody {
  const about = Object.fromEntries(Object.entries(context).map(([name, value]) => [name, bounded(value, 200)]));
  if (error instanceof DriverError) {
    return {
      errorCode: error.code,
      errorType: "FAILED_DEPENDENCY",
      message: error.message,
      remediationMessage: error.remediation,
      context: about,
      ...(error.causes.length > 0 && {
        causes: error.causes.map((message) => ({ ...(error.errorType && { type: error.errorType }), message })),
      }),
    };
  }
  return {
    errorCode: "UNEXPECTED",
    errorType: "INTERNAL",
    message: bounded(error instanceof Error ? `${error.name}: ${error.message}` : String(error), 500),
    remediationMessage: "Check the worker's log for this error and report it, then retry the upgrade.",
    context: about,
  };
}

/** How Temporal is to treat a failure, where that is not said by the error's kind alone. */
export interface FailureOptions {
  /** Default: transient and unforeseen errors are, permanent ones are not. */
  readonly retryable?: boolean;
  /** What the Activity knows, where it is attached to again; part of the details. */
  readonly progress?: ActivityProgress;
  /** Milliseconds until the next attempt, instead of what the retry policy says. */
  readonly retryDelay?: number;
}

/** The ApplicationFailure of an error: `type` is its stable code, the first detail is {@link FailureDetails}. */
export function failureOf(error: unknown, context: FailureContext, options: FailureOptions = {}): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const retryable = options.retryable ?? !(error instanceof DriverError && error.kind === "permanent");
  const { progress, retryDelay } = options;
  return failure({ error: errorBodyOf(error, context), ...(progress && { progress }) }, !retryable, retryDelay);
}

/** Tells the Workflow that the Worker stopped this Activity, so that it is run again at once. */
export function workerShutdownFailure(
  context: FailureContext,
  progress?: ActivityProgress,
  { mayStillArrive = false } = {},
): ApplicationFailure {
  const error: ErrorBody = {
    errorCode: workerShutdown,
    errorType: "INTERNAL",
    message: "The worker is shutting down; another one continues.",
    remediationMessage: "Check that a worker is running.",
    context,
  };
  return failure({ error, ...(progress && { progress }), ...(mayStillArrive && { mayStillArrive }) }, true);
}

/** Tells the Workflow why nothing was begun (a freeze, a hold, the calendar), so that it waits for the end of that. */
export function closedFailure(error: ErrorBody, progress?: ActivityProgress): ApplicationFailure {
  return failure({ error, ...(progress && { progress }) }, true);
}

/** Has Temporal look again while the reason still holds; nothing is wrong. */
export function stillClosedFailure({ message, errorCode }: ErrorBody): ApplicationFailure {
  const type = errorCode ?? "FROZEN";
  return ApplicationFailure.create({
    message: bounded(message, 300),
    type,
    category: ApplicationFailureCategory.BENIGN,
  });
}

/**
 * The failure of hosts, `count` of them, by what they know in the end: `error` is of the first. Temporal tries them again
 * where it is `retryable`.
 */
export function hostsFailure(
  error: ErrorBody,
  count: number,
  { retryable, progress }: { readonly retryable: boolean; readonly progress: RemediationProgress },
): ApplicationFailure {
  const others = count > 1 ? ` (and ${count - 1} more hosts)` : "";
  const body = { ...error, message: `${error.message}${others}` };
  return failure({ error: body, progress }, !retryable);
}

/** Tells the Workflow that `what` (a host, say) finished safely, not upgraded, as its `stop` asked. */
export function stoppedFailure(context: FailureContext, progress: ActivityProgress, what = "host"): ApplicationFailure {
  const error: ErrorBody = {
    errorCode: "CANCELLED",
    errorType: "CANCELLED",
    message: `The upgrade was cancelled before the ${what} was upgraded.`,
    remediationMessage: "Start a new upgrade to upgrade it.",
    context,
  };
  return failure({ error, progress }, true);
}

function failure(details: AnyDetails, nonRetryable: boolean, retryDelay?: number): ApplicationFailure {
  const { error } = details;
  const made = ApplicationFailure.create({
    message: bounded(error.message, 300),
    type: error.errorCode ?? "UNEXPECTED",
    nonRetryable,
    details: [fitted(details)],
    ...(retryDelay !== undefined && { nextRetryDelay: retryDelay }),
  });
  // A stack of this file tells nobody anything, and it counts against the size of the failure.
  made.stack = `${made.name}: ${made.message}`;
  return made;
}

/** What another run needs to go on: not the nodes, which it reads again. */
function withoutDetails(progress: ActivityProgress): ActivityProgress {
  return "nodes" in progress ? { ...progress, nodes: [] } : progress;
}

function withoutLastError(progress: ActivityProgress): ActivityProgress {
  const { lastError: _, ...rest } = { lastError: undefined, ...progress };
  return rest;
}

/** What several hosts that failed have in common is told in at most this many characters. */
function withFewerWords(progress: ActivityProgress, length: number): ActivityProgress {
  return "failed" in progress ? { ...progress, failed: mergedFailures(progress.failed, length) } : progress;
}

/** The details without what is told twice or in most words, until they fit. */
function fitted(details: AnyDetails): AnyDetails {
  const shorter = (error: ErrorBody, length: number): ErrorBody => ({
    ...error,
    message: bounded(error.message, length),
  });
  const withoutCauses = ({ causes: _, ...error }: ErrorBody): ErrorBody => error;
  const known = (d: AnyDetails, change: (progress: ActivityProgress) => ActivityProgress): AnyDetails => ({
    ...d,
    ...(d.progress && { progress: change(d.progress) }),
  });
  const steps: ((d: AnyDetails) => AnyDetails)[] = [
    (d) => known(d, withoutLastError),
    (d) => ({ ...d, error: { ...d.error, ...(d.error.causes && { causes: d.error.causes.slice(0, 1) }) } }),
    (d) => ({ ...d, error: withoutCauses(d.error) }),
    (d) => known(d, (progress) => withFewerWords(progress, 80)),
    (d) => known(d, withoutDetails),
    (d) => ({ ...d, error: shorter(d.error, 200) }),
    (d) => known(d, (progress) => withFewerWords(progress, 0)),
    (d) => ({
      ...known(d, (progress) => ({ ...progress, activity: bounded(progress.activity, 100) })),
      error: { ...shorter(d.error, 100), context: {} },
    }),
  ];
  let fitting = details;
  for (const step of steps) {
    if (Buffer.byteLength(JSON.stringify(fitting)) <= maximumDetails) return fitting;
    fitting = step(fitting);
  }
  return fitting;
}

/** Failures of several hosts in fewer words; those that only differ in what was cut become one. */
function mergedFailures(failed: readonly RemediationFailure[], length: number): RemediationFailure[] {
  const merged = new Map<string, RemediationFailure>();
  for (const { code, what, stage, hosts, at } of failed) {
    const text = length === 0 ? "failed; the worker's log has the reason." : bounded(what, length);
    const key = JSON.stringify([code, stage, text]);
    merged.set(key, { code, stage, at, what: text, hosts: [...(merged.get(key)?.hosts ?? []), ...hosts] });
  }
  return [...merged.values()];
}
