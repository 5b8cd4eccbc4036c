import type { Context } from "@temporalio/activity";
import type { ActivityProgress } from "./contract";
import { bounded } from "./drivers/driver-error";
import type { FailureContext } from "./failures";

/** Lines that one run writes; a component manager with ever new words is not to fill the log. */
const toldAtMost = 200;

/**
 * Heartbeats progress, and tells the log what is new in it: a sentence that this run has not told yet, or the component
 * manager's id of the task that runs there. Percentages and counts are not new; failures have a line of their own.
 */
export function toldHeartbeats({ log, heartbeat }: Context, context: FailureContext) {
  const told = new Set<string>();
  return (progress: ActivityProgress): void => {
    heartbeat(progress);
    const { activity: doing } = progress;
    const failure = "lastError" in progress ? progress.lastError.message : undefined;
    if (failure !== undefined && doing === bounded(failure, 300)) return;
    const remoteTask = "remoteTask" in progress ? progress.remoteTask : undefined;
    const news = [doing.replace(/\d+( of \d+| ?%)/g, "n"), ...(remoteTask === undefined ? [] : [remoteTask])];
    if (news.every((one) => told.has(one)) || told.size >= toldAtMost) return;
    for (const one of news) told.add(one);
    log.info("A step got on", { ...context, stage: stageOf(progress), remoteTask, doing });
  };
}

function stageOf(progress: ActivityProgress): string | undefined {
  if (!("stages" in progress)) return undefined;
  return progress.stages.find(({ status }) => status === "IN_PROGRESS")?.type;
}
