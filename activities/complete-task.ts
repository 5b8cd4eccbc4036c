import { DriverError, isNotFound } from "./drivers/driver-error";
import { messageIdsOf, messagesOf } from "./drivers/vapi/classify-error";
import { hasEnded, Notifications, type TaskInfo, textsOf } from "./drivers/vapi/vapi-models";
import type { RetryPolicy } from "./retry-policy";

/** Whatever reads the tasks of a component manager. */
interface TaskReader {
  readonly id: string;
  readTask(task: string): Promise<TaskInfo>;
}

/** So many looks come sooner than the shortest pause between others, the first of them at once: most of these tasks end soon. */
const soonerLooks = 4;

/** The `round`th pause: a twenty-fifth of the shortest one, then twice as long each time up to that, then as others are. */
const pauseAfter = (round: number) => (round < soonerLooks ? 2 : 1) * (round - soonerLooks);

/**
 * Waits for the end of a short task of the component manager (scan, check, validate, commit). Undefined where the manager
 * has forgotten the task, or ended it by its own restart: its effect then has to be looked up. Throws where it takes longer
 * than any other operation may.
 */
export async function completeTask(
  client: TaskReader,
  retryPolicy: RetryPolicy,
  id: string,
): Promise<TaskInfo | undefined> {
  const began = retryPolicy.clock.now();
  for (let round = 0; ; round++) {
    try {
      const task = await retryPolicy.retry(() => client.readTask(id));
      if (hasEnded(task)) return endedByRestart(task) ? undefined : task;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
    if (retryPolicy.clock.now() - began > retryPolicy.bounds.operationBusy) {
      throw new DriverError({
        kind: "transient",
        code: "COMPONENT_MANAGER_TASK_TIMED_OUT",
        message: `Task ${id} of ${client.id} did not end in time.`,
        remediation: "Check the task in the component manager and cancel it there if it hangs, then retry the upgrade.",
      });
    }
    await retryPolicy.pause(pauseAfter(round));
  }
}

/** So often a check is begun anew whose task has come to nothing. */
const maximumChecks = 3;

/** Has something checked that changes nothing, again where the manager has forgotten the task or ended it by its own restart. */
export async function completeCheck(
  client: TaskReader,
  retryPolicy: RetryPolicy,
  start: () => Promise<string>,
): Promise<TaskInfo | undefined> {
  for (let round = 1; ; round++) {
    const task = await completeTask(client, retryPolicy, await retryPolicy.retry(start));
    if (task || round === maximumChecks) return task;
    await retryPolicy.pause(round);
  }
}

/** What the component manager says of a task that it has ended itself, because its service restarted. */
const endedByServiceRestart = /\bCanceledDueToServiceRestart$/;

/** Whether an error body or notifications, of a task or of a host in it, say that it ended with the service's restart. */
export function saysServiceRestart(told: unknown): boolean {
  const errors = Notifications.is(told) ? (told.errors ?? []).map(({ message }) => message) : [];
  return [...messageIdsOf(told), ...messageIdsOf({ messages: errors })].some((id) => endedByServiceRestart.test(id));
}

/** Whether a task has ended because the manager's service restarted: that is no word on what it was about. */
export function endedByRestart(task: { readonly status: string; readonly error?: unknown; readonly result?: unknown }) {
  const { notifications } = (task.result ?? {}) as { notifications?: unknown };
  return task.status === "FAILED" && [task.error, notifications].some(saysServiceRestart);
}

/** What the component manager gives as the reason of a failed task: in its error, else in its result. */
export function reasonsOf({ error, result }: Partial<Pick<TaskInfo, "error" | "result">>): string[] {
  const told = messagesOf(error);
  if (told.length > 0) return told;
  const notifications = (result as { notifications?: unknown } | null | undefined)?.notifications ?? result;
  return Notifications.is(notifications) ? textsOf(notifications.errors) : [];
}
