import type { Context } from "@temporalio/activity";
import type { BaselineHostStageType, HostProgress, HostStageType } from "../src/domain/host-remediation";
import type { ActivityProgress } from "./contract";
import type { FailureContext } from "./failures";

/** Milliseconds between two log lines of one run that differ in words only. */
const wordsEvery = 10_000;

/** Stages of a host that only look at it. */
const looks: ReadonlySet<string> = new Set<HostStageType | BaselineHostStageType>([
  "CHECK_COMPLIANCE",
  "CHECK_VERSION",
]);

/**
 * Reports the progress of an Activity that heartbeats steadily (`runActivity`), at once where it is new. Another
 * percentage goes with the next steady heartbeat, because Temporal writes each to its database. So does that a host is
 * looked at first: the SDK would hold back the intent that follows for a second.
 *
 * The log gets a line for each new stage and each new task of the component manager, and for other words every ten
 * seconds at most. Failures have a line of their own. `now` is a monotonic clock in milliseconds.
 */
export function toldHeartbeats(
  { log, heartbeat }: Context,
  context: FailureContext,
  now: () => number = () => performance.now(),
) {
  let known: string | undefined;
  let logged: { readonly step: string; readonly doing: string; readonly at: number } | undefined;
  let lastError: unknown;
  return (progress: ActivityProgress): void => {
    const state = JSON.stringify({ ...progress, percent: undefined });
    if (state !== known && (known !== undefined || !onlyLooks(progress))) heartbeat(progress);
    known = state;

    const { activity: doing } = progress;
    const { remoteTask, lastError: error } = progress as Partial<HostProgress>;
    const hasFailed = error !== undefined && error !== lastError;
    lastError = error;
    if (hasFailed) return;
    const stage = stageOf(progress);
    const step = JSON.stringify([stage, remoteTask]);
    if (logged?.step === step && (logged.doing === doing || now() - logged.at < wordsEvery)) return;
    logged = { step, doing, at: now() };
    log.info("A step got on", { ...context, stage, remoteTask, doing });
  };
}

/** Whether nothing is told that the next run would have to know. */
function onlyLooks(progress: ActivityProgress): boolean {
  const { remoteTask, requestedAt, lastError } = progress as Partial<HostProgress>;
  if (remoteTask !== undefined || requestedAt !== undefined || lastError !== undefined) return false;
  return looks.has(stageOf(progress) ?? "");
}

function stageOf(progress: ActivityProgress): string | undefined {
  if (!("stages" in progress)) return undefined;
  return progress.stages.find(({ status }) => status === "IN_PROGRESS")?.type;
}
