import { ApplicationFailure } from "@temporalio/common";
import type { ErrorBody } from "../src/domain/error-body";
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
    remediationMessage: "Look at the worker's log for this error and report it, then retry the upgrade.",
    context: about,
  };
}

/** How Temporal is to treat a failure, where that is not said by the error's kind alone. */
export interface FailureOptions {
  /** Default: transient and unforeseen errors are, permanent ones are not. */
  readonly retryable?: boolean;
  /** What the Activity knows, where it is attached to again; part of the details. */
  readonly progress?: ActivityProgress;
}

/** The ApplicationFailure of an error: `type` is its stable code, the first detail is {@link FailureDetails}. */
export function failureOf(error: unknown, context: FailureContext, options: FailureOptions = {}): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const retryable = options.retryable ?? !(error instanceof DriverError && error.kind === "permanent");
  return failure(errorBodyOf(error, context), !retryable, options.progress);
}

/** Tells the Workflow that the Worker stopped this Activity, so that it is run again at once. */
export function workerShutdownFailure(context: FailureContext, progress?: ActivityProgress): ApplicationFailure {
  const error: ErrorBody = {
    errorCode: workerShutdown,
    errorType: "INTERNAL",
    message: "The worker is shutting down; another one goes on from here.",
    remediationMessage: "Check that a worker is running.",
    context,
  };
  return failure(error, true, progress);
}

/** Tells the Workflow that `what` (a host, say) was brought to a safe end, not upgraded, as its `stop` asked. */
export function stoppedFailure(context: FailureContext, progress: ActivityProgress, what = "host"): ApplicationFailure {
  const error: ErrorBody = {
    errorCode: "CANCELLED",
    errorType: "CANCELLED",
    message: `The upgrade was cancelled before the ${what} was upgraded.`,
    remediationMessage: "Start a new upgrade when it is to be upgraded after all.",
    context,
  };
  return failure(error, true, progress);
}

function failure(error: ErrorBody, nonRetryable: boolean, progress: ActivityProgress | undefined): ApplicationFailure {
  const made = ApplicationFailure.create({
    message: bounded(error.message, 300),
    type: error.errorCode ?? "UNEXPECTED",
    nonRetryable,
    details: [fitted({ error, ...(progress && { progress }) })],
  });
  // A stack of this file tells nobody anything, and it counts against the size of the failure.
  made.stack = `${made.name}: ${made.message}`;
  return made;
}

/** What another run needs to go on: neither the errors of stages nor the nodes, which it reads again. */
function withoutDetails(progress: ActivityProgress): ActivityProgress {
  if ("nodes" in progress) return { ...progress, nodes: [] };
  if (!("stages" in progress)) return progress;
  return { ...progress, stages: progress.stages.map(({ errors: _, ...stage }) => stage) };
}

/** The details without what is told twice or in most words, until they fit. */
function fitted(details: AnyDetails): AnyDetails {
  const shorter = (error: ErrorBody, length: number): ErrorBody => ({
    ...error,
    message: bounded(error.message, length),
  });
  const withoutCauses = ({ causes: _, ...error }: ErrorBody): ErrorBody => error;
  const steps: ((d: AnyDetails) => AnyDetails)[] = [
    ({ error, progress }) => {
      const { lastError: _, ...rest } = progress ?? {};
      return { error, ...(progress && { progress: rest as ActivityProgress }) };
    },
    (d) => ({ ...d, error: { ...d.error, ...(d.error.causes && { causes: d.error.causes.slice(0, 1) }) } }),
    (d) => ({ ...d, error: withoutCauses(d.error) }),
    ({ error, progress }) => ({
      error,
      ...(progress && { progress: withoutDetails(progress) }),
    }),
    (d) => ({ ...d, error: shorter(d.error, 200) }),
    ({ error, progress }) => ({
      error: { ...shorter(error, 100), context: {} },
      ...(progress && { progress: { ...progress, activity: bounded(progress.activity, 100) } }),
    }),
  ];
  let fitting = details;
  for (const step of steps) {
    if (Buffer.byteLength(JSON.stringify(fitting)) <= maximumDetails) return fitting;
    fitting = step(fitting);
  }
  return fitting;
}
