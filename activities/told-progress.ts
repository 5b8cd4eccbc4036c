import type { Context } from "@temporalio/activity";
import type { BaselineHostStageType, HostProgress, HostStageType } from "../src/domain/host-remediation";
import type { ActivityProgress } from "./contract";
import { bounded } from "./drivers/driver-error";
import type { FailureContext } from "./failures";

/** Lines that one run writes; a component manager with ever new words is not to fill the log. */
const toldAtMost = 200;

/** Stages of a host that only look at it. */
const looks: ReadonlySet<string> = new Set<HostStageType | BaselineHostStageType>([
  "CHECK_COMPLIANCE",
  "CHECK_VERSION",
]);

/**
 * Heartbeats what is new in the progress of an Activity that gives its signs of life with it (`runActivity`). A percentage or
 * count in what it says is not new, and goes with the next of those: Temporal writes each heartbeat to its database. Nor is
 * that a host is looked at first: the SDK would keep the intent that follows until a second is over.
 *
 * It also tells the log a sentence that this run has not told yet, or the component manager's id of the task that runs there.
 * Failures have a line of their own.
 */
export function toldHeartbeats({ log, heartbeat }: Context, context: FailureContext) {
  const told = new Set<string>();
  let known: string | undefined;
  return (progress: ActivityProgress): void => {
    const { activity: doing } = progress;
    const sentence = doing.replace(/\d+( of \d+| ?%)/g, "n");
    const now = JSON.stringify({ ...progress, activity: sentence, percent: undefined });
    if (now !== known && (known !== undefined || !onlyLooks(progress))) heartbeat(progress);
    known = now;
    const failure = "lastError" in progress ? progress.lastError.message : undefined;
    if (failure !== undefined && doing === bounded(failure, 300)) return;
    const remoteTask = "remoteTask" in progress ? progress.remoteTask : undefined;
    const news = [sentence, ...(remoteTask === undefined ? [] : [remoteTask])];
    if (news.every((one) => told.has(one)) || told.size >= toldAtMost) return;
    for (const one of news) told.add(one);
    log.info("A step got on", { ...context, stage: stageOf(progress), remoteTask, doing });
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
