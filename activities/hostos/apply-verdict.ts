import { reasonsOf, saysServiceRestart } from "../complete-task";
import { ApplyResult, type TaskInfo, textsOf } from "../drivers/vlcm/vlcm-models";

/**
 * What a remediation came to for one host. OTHER: it was not about this host. UNKNOWN: it ended and does not say, so
 * that the host itself has to be looked at.
 */
export type ApplyVerdict =
  | { readonly verdict: "OK" | "OTHER" | "UNKNOWN" }
  | { readonly verdict: "FAILED"; readonly reasons: readonly string[] };

/** The verdict of a remediation's result; a host that was skipped or not finished is not judged by it. */
export function verdictOfResult(result: ApplyResult, host: string): ApplyVerdict {
  const own = result.host_status?.[host];
  const status = own?.status ?? "";
  if (wasEndedByRestart(result, host)) return { verdict: "UNKNOWN" };
  if (result.failed_hosts?.includes(host) || status === "ERROR" || status === "TIMED_OUT") {
    const reasons = [
      ...textsOf(own?.notifications?.errors),
      ...textsOf(result.status?.notifications?.errors),
      ...textsOf(result.notifications?.errors),
    ];
    return {
      verdict: "FAILED",
      reasons: reasons.length > 0 ? reasons : [`The host's status is ${status || "failed"}.`],
    };
  }
  if (result.successful_hosts?.includes(host) || status === "OK") return { verdict: "OK" };
  if (own || result.skipped_hosts?.includes(host)) return { verdict: "UNKNOWN" };
  return namesHosts(result) ? { verdict: "OTHER" } : { verdict: "UNKNOWN" };
}

/** Whether the manager has ended the remediation of a host by its own restart, so that the host has to be looked at. */
function wasEndedByRestart({ host_status, status, notifications }: ApplyResult, host: string): boolean {
  const own = host_status?.[host];
  const isOfAll = textsOf(own?.notifications?.errors).length === 0 && own?.status !== "OK";
  return [own?.notifications, ...(isOfAll ? [status?.notifications, notifications] : [])].some(saysServiceRestart);
}

/** The verdict of a task that has ended. A task may succeed with a failed host in it. */
export function verdictOfTask(task: TaskInfo, host: string): ApplyVerdict {
  const result = ApplyResult.is(task.result) ? task.result : {};
  const judged = verdictOfResult(result, host);
  if (judged.verdict === "FAILED") {
    const told = reasonsOf({ ...task, result: undefined });
    return { verdict: "FAILED", reasons: [...new Set([...judged.reasons, ...told])] };
  }
  if (wasEndedByRestart(result, host)) return judged;
  if (task.status === "SUCCEEDED" || judged.verdict === "OK" || judged.verdict === "OTHER") return judged;
  const reasons = reasonsOf(task);
  return { verdict: "FAILED", reasons };
}

/** The verdict of one of several hosts: one that was skipped has not failed, whatever became of the others. */
export function verdictAmongHosts(task: TaskInfo, host: string): ApplyVerdict {
  const result = ApplyResult.is(task.result) ? task.result : {};
  const judged = verdictOfResult(result, host);
  return namesHosts(result) && judged.verdict === "UNKNOWN" ? judged : verdictOfTask(task, host);
}

/** Whether an unfinished remediation works on this host; undefined where it does not say yet. */
export function worksOn(task: TaskInfo, host: string): boolean | undefined {
  if (!ApplyResult.is(task.result) || !namesHosts(task.result)) return undefined;
  return verdictOfResult(task.result, host).verdict !== "OTHER";
}

/** Epoch milliseconds at which a remediation began, by the component manager's clock. */
export function startOf(result: ApplyResult, host: string): number | undefined {
  const start = Date.parse(result.status?.start_time ?? result.host_status?.[host]?.start_time ?? "");
  return Number.isNaN(start) ? undefined : start;
}

function namesHosts({ host_status, successful_hosts, failed_hosts, skipped_hosts }: ApplyResult): boolean {
  const listed = [successful_hosts, failed_hosts, skipped_hosts].some((hosts) => hosts && hosts.length > 0);
  return listed || Object.keys(host_status ?? {}).length > 0;
}
