import type { SubTask, Task, TaskStatus } from "../domain/task";
import { precheckRunOf } from "../domain/precheck-task";
import { exitCode, type ExitCode } from "./exit-code";

/** How many hosts, or nodes, there are and how they are. */
export interface Counts {
  readonly total: number;
  readonly done: number;
  readonly running: number;
  readonly failed: number;
}

const hostTypes = new Set(["HOST_UPGRADE", "NETVIRT_NODE_UPGRADE"]);

/** The hosts and nodes below some parts; parts that have none known yet count nothing. */
export function countHosts(parts: readonly SubTask[] = []): Counts {
  const counts = { total: 0, done: 0, running: 0, failed: 0 };
  const add = (part: SubTask): void => {
    if (hostTypes.has(part.type)) {
      counts.total += 1;
      if (isDone(part)) counts.done += 1;
      if (part.status === "IN_PROGRESS") counts.running += 1;
      if (part.status === "FAILED") counts.failed += 1;
    }
    part.subTasks?.forEach(add);
  };
  parts.forEach(add);
  return counts;
}

/** How much of a part is done, from 0 to 1: by its hosts, else by its own parts and stages. */
export function fractionOf(part: SubTask): number {
  if (isDone(part)) return 1;
  if (part.status === "PENDING" || part.status === "NOT_APPLICABLE") return 0;
  const { total, done } = countHosts(part.subTasks);
  if (total > 0 && !hostTypes.has(part.type)) return done / total;
  const parts = part.subTasks ?? [];
  if (parts.length > 0) return parts.reduce((sum, one) => sum + fractionOf(one), 0) / parts.length;
  const stages = part.stages ?? [];
  return stages.length > 0 ? stages.filter(({ status }) => status === "SUCCESSFUL").length / stages.length : 0;
}

/** One status stands for what need not be done and for what was not begun; the reason tells them apart. */
function isDone({ status, reasonCode }: SubTask): boolean {
  return status === "SUCCESSFUL" || reasonCode === "AT_TARGET" || reasonCode === "NOT_IN_SCOPE";
}

/** What `upgradectl` ends with where a Task has ended so; `undefined` while it goes on. */
export function outcomeOf(status: TaskStatus): ExitCode | undefined {
  switch (status) {
    case "SUCCESSFUL":
    case "Successful":
    case "COMPLETED_WITH_WARNING":
    case "SKIPPED":
      return exitCode.successful;
    case "FAILED":
    case "Failed":
    case "CANCELLED":
    case "Cancelled":
      return exitCode.failed;
    case "PENDING":
    case "Pending":
    case "IN_PROGRESS":
    case "In Progress":
      return undefined;
  }
}

/** What can be done next about a Task in words; empty where nothing need be. */
export function nextStepOf({ id, status, isRetryable, errors, waitingFor }: Task): string {
  const prechecked = precheckRunOf(id)?.upgradeId;
  if (prechecked !== undefined && outcomeOf(status) === exitCode.successful)
    return `\`upgradectl commit ${prechecked}\`.`;
  const remediation = errors?.at(-1)?.remediationMessage;
  if (waitingFor?.code === "COMMIT")
    return `\`upgradectl commit ${id}\` begins it; \`--at TIME\` gives it another time.`;
  if (waitingFor) return remediation ?? "";
  if (outcomeOf(status) !== exitCode.failed) return "";
  if (prechecked !== undefined)
    return `\`upgradectl prechecks ${prechecked} --watch\` when this is done: ${remediation ?? "Mend what has failed."}`;
  if (!isRetryable) return remediation ?? "Start another upgrade when all is well.";
  return `\`upgradectl retry ${id}\` when this is done: ${remediation ?? "Mend what has failed."}`;
}
