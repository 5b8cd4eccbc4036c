import type { Context } from "@temporalio/activity";
import { type HostPhase, phaseOf } from "../src/domain/task/host-remediation";
import type { ActivityProgress } from "./contract";
import type { FailureContext } from "./failures";

/** Milliseconds between two log lines of one run that differ in words only. */
const wordsEvery = 10_000;

/** Phases of a host in which it is only looked at. */
const looks: ReadonlySet<HostPhase | undefined> = new Set(["CHECK_COMPLIANCE", "CHECK_VERSION"]);

/**
 * Reports the progress of an Activity that heartbeats steadily (`runActivity`), at once where it is new. Another
 * percentage goes with the next steady heartbeat, because Temporal writes each to its database. So does that a host is
 * looked at first: the SDK would hold back the intent that follows for a second.
 *
 * The log gets a line for each new stage and each new task of the component manager, and for other words every ten
 * seconds at most. Failures have a line of their own. `now` is a monotonic clock in milliseconds.
 */
export function reportHeartbeats(
  { log, heartbeat }: Context,
  context: FailureContext,
  now: () => number = () => performance.now(),
) {
  let known: string | undefined;
  let logged: { readonly step: string; readonly doing: string; readonly at: number } | undefined;
  let failed: string | undefined;
  return (progress: ActivityProgress): void => {
    const state = JSON.stringify({ ...progress, percent: undefined });
    if (state !== known && (known !== undefined || !onlyLooks(progress))) heartbeat(progress);
    known = state;

    const failure = lastFailureOf(progress);
    const hasFailed = failure !== undefined && failure !== failed;
    failed = failure;
    if (hasFailed) return;
    const { activity: doing } = progress;
    const remoteTask = "remoteTask" in progress ? progress.remoteTask : undefined;
    const stage = stageOf(progress);
    const step = JSON.stringify([stage, remoteTask]);
    if (logged?.step === step && (logged.doing === doing || now() - logged.at < wordsEvery)) return;
    logged = { step, doing, at: now() };
    log.info("Activity progress", { ...context, stage, remoteTask, doing });
  };
}

/** Whether nothing is told that the next run would have to know. */
function onlyLooks(progress: ActivityProgress): boolean {
  if (!("phases" in progress)) return false;
  const { remoteTask, requestedAt, failures } = progress;
  if (remoteTask !== undefined || requestedAt !== undefined || failures.some((count) => count > 0)) return false;
  return looks.has(stageOf(progress));
}

/** What has failed so far, as a text that is another one after another failure; undefined where nothing has. */
function lastFailureOf(progress: ActivityProgress): string | undefined {
  if ("failed" in progress) return progress.failed.length > 0 ? JSON.stringify(progress.failed) : undefined;
  return progress.lastError && JSON.stringify(progress.lastError);
}

/** The phase of a host alone; of several hosts each has its own. */
function stageOf(progress: ActivityProgress): HostPhase | undefined {
  return "phases" in progress && progress.phases.length === 1 ? phaseOf(progress, 0) : undefined;
}
