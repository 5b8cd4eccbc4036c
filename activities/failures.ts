import { ApplicationFailure } from "@temporalio/common";
import type { ErrorBody } from "../src/domain/error-body";
import type { HostProgress } from "../src/domain/host-remediation";
import type { HostsFailure, HostsProgress } from "../src/domain/hosts-remediation";
import { type FailureDetails, workerShutdown } from "./contract";
import { bounded, DriverError } from "./drivers/driver-error";

/** Flat facts of an error for its reader, such as cluster and host. */
export type FailureContext = Readonly<Record<string, string>>;

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

/** What the next run has to know of the work on one host or several. */
type KnownProgress = Pick<FailureDetails, "progress" | "hostsProgress">;

/** How Temporal is to treat a failure, where that is not said by the error's kind alone. */
export interface FailureOptions {
  /** Default: transient and unforeseen errors are, permanent ones are not. */
  readonly retryable?: boolean;
  /** What `remediateHost` knows; part of the details. */
  readonly progress?: HostProgress;
  /** What `remediateHosts` knows. */
  readonly hostsProgress?: HostsProgress;
}

/** The ApplicationFailure of an error: `type` is its stable code, the first detail is {@link FailureDetails}. */
export function failureOf(error: unknown, context: FailureContext, options: FailureOptions = {}): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const retryable = options.retryable ?? !(error instanceof DriverError && error.kind === "permanent");
  return failure(errorBodyOf(error, context), !retryable, options);
}

/** Tells the Workflow that the Worker stopped this Activity, so that it is run again at once. */
export function workerShutdownFailure(context: FailureContext, known: KnownProgress = {}): ApplicationFailure {
  const error: ErrorBody = {
    errorCode: workerShutdown,
    errorType: "INTERNAL",
    message: "The worker is shutting down; another one goes on from here.",
    remediationMessage: "Check that a worker is running.",
    context,
  };
  return failure(error, true, known);
}

/** Tells Temporal to try hosts again that have failed together: `error` is of the first, `count` says how many. */
export function hostsFailedFailure(error: ErrorBody, count: number, hostsProgress: HostsProgress): ApplicationFailure {
  const others = count > 1 ? ` (and ${count - 1} more hosts)` : "";
  return failure({ ...error, message: `${error.message}${others}` }, false, { hostsProgress });
}

/** Tells the Workflow that the host was brought to a safe end, not upgraded, as its `stop` asked. */
export function stoppedFailure(context: FailureContext, known: KnownProgress): ApplicationFailure {
  const error: ErrorBody = {
    errorCode: "CANCELLED",
    errorType: "CANCELLED",
    message: "The upgrade was cancelled before the host was upgraded.",
    remediationMessage: "Start a new upgrade when the cluster is to be upgraded after all.",
    context,
  };
  return failure(error, true, known);
}

function failure(
  error: ErrorBody,
  nonRetryable: boolean,
  { progress, hostsProgress }: KnownProgress,
): ApplicationFailure {
  const made = ApplicationFailure.create({
    message: bounded(error.message, 300),
    type: error.errorCode ?? "UNEXPECTED",
    nonRetryable,
    details: [fitted({ error, ...(progress && { progress }), ...(hostsProgress && { hostsProgress }) })],
  });
  // A stack of this file tells nobody anything, and it counts against the size of the failure.
  made.stack = `${made.name}: ${made.message}`;
  return made;
}

/** The details without what is told twice or in most words, until they fit. */
function fitted(details: FailureDetails): FailureDetails {
  const shorter = (error: ErrorBody, length: number): ErrorBody => ({
    ...error,
    message: bounded(error.message, length),
  });
  const withoutCauses = ({ causes: _, ...error }: ErrorBody): ErrorBody => error;
  const ofHost = (d: FailureDetails, change: (progress: HostProgress) => HostProgress): FailureDetails => ({
    ...d,
    ...(d.progress && { progress: change(d.progress) }),
  });
  const ofHosts = (d: FailureDetails, length: number): FailureDetails => ({
    ...d,
    ...(d.hostsProgress && {
      hostsProgress: { ...d.hostsProgress, failed: mergedFailures(d.hostsProgress.failed, length) },
    }),
  });
  const steps: ((d: FailureDetails) => FailureDetails)[] = [
    (d) => ofHost(d, ({ lastError: _, ...rest }) => rest),
    (d) => ({ ...d, error: { ...d.error, ...(d.error.causes && { causes: d.error.causes.slice(0, 1) }) } }),
    (d) => ({ ...d, error: withoutCauses(d.error) }),
    (d) => ofHosts(d, 80),
    (d) => ofHost(d, (progress) => ({ ...progress, stages: progress.stages.map(({ errors: _, ...stage }) => stage) })),
    (d) => ({ ...d, error: shorter(d.error, 200) }),
    (d) => ofHosts(d, 0),
    (d) => ({
      ...ofHost(d, (progress) => ({ ...progress, activity: bounded(progress.activity, 100) })),
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
function mergedFailures(failed: readonly HostsFailure[], length: number): HostsFailure[] {
  const merged = new Map<string, HostsFailure>();
  for (const { code, what, stage, hosts } of failed) {
    const text = length === 0 ? "failed; the worker's log has the reason." : bounded(what, length);
    const key = JSON.stringify([code, stage, text]);
    merged.set(key, { code, stage, what: text, hosts: [...(merged.get(key)?.hosts ?? []), ...hosts] });
  }
  return [...merged.values()];
}
