import { DriverError, isNotFound } from "../../drivers/driver-error";
import { percentOf } from "../../drivers/vapi/vapi-models";
import type { VlcmClient } from "../../drivers/vlcm/vlcm-client";
import { ApplyResult, hasEnded, type TaskInfo } from "../../drivers/vlcm/vlcm-models";
import type { RetryPolicy } from "../../retry-policy";
import { StallTimer } from "../../stall-timer";

/** Who has waited for so long before a look, in milliseconds, can wait a little longer for others that look as well. */
const longWait = 2_000;

/** How following a remediation ended. FORGOTTEN: the component manager does not know the task any more. */
type FollowedRemediation =
  | { readonly end: "ENDED"; readonly task: TaskInfo }
  | { readonly end: "FORGOTTEN" }
  | { readonly end: "STALLED"; readonly task: TaskInfo };

interface FollowRemediationOptions {
  readonly client: VlcmClient;
  readonly retryPolicy: RetryPolicy;
  readonly task: string;
  readonly hosts: readonly string[];
  /** Milliseconds without any change after which the task counts as stalled. */
  readonly stall: number;
  /** Whether the task is to be cancelled as soon as it can be. */
  readonly cancel: boolean;
  /** Called after every look at the task, with one sentence on it and how far it is (0 to 100) where that is known. */
  onProgress(activity: string, percent: number | undefined): void;
}

/** Watches a remediation to its end. Time in which the component manager does not answer is no time without change. */
export async function followRemediation(options: FollowRemediationOptions): Promise<FollowedRemediation> {
  const { client, retryPolicy, hosts, stall, onProgress } = options;
  const timer = new StallTimer(retryPolicy.clock);
  let cancelled = !options.cancel;
  let waited = 0;
  for (let round = 0; ; round++) {
    let task: TaskInfo;
    try {
      task = await timer.uncounted(() => retryPolicy.retry(() => client.readTask(options.task, waited >= longWait)));
    } catch (error) {
      if (isNotFound(error)) return { end: "FORGOTTEN" };
      throw error;
    }
    if (hasEnded(task)) return { end: "ENDED", task };
    if (timer.look(movingParts(task, hosts))) round = 0;
    onProgress(describe(task), percentOf(task.progress));
    if (timer.stalledFor >= stall) return { end: "STALLED", task };

    if (!cancelled && task.cancelable) cancelled = await tryCancel(client, retryPolicy, options.task);
    const paused = retryPolicy.clock.now();
    await retryPolicy.pause(round);
    waited = retryPolicy.clock.now() - paused;
  }
}

/** Asks for the end of a task. False where the component manager does not allow it now: it may later. */
async function tryCancel(client: VlcmClient, retryPolicy: RetryPolicy, task: string): Promise<boolean> {
  try {
    await retryPolicy.once(() => client.cancelTask(task));
    return true;
  } catch (error) {
    if (!(error instanceof DriverError)) throw error;
    // Whether it was cancelled, had ended or cannot be cancelled is seen at the next look at the task.
    await retryPolicy.pause(0);
    return false;
  }
}

/** What changes while a remediation gets on. */
function movingParts({ status, progress, result }: TaskInfo, hosts: readonly string[]): unknown {
  const statuses = ApplyResult.is(result) ? result.host_status : undefined;
  return [
    status,
    progress?.completed,
    progress?.message.default_message,
    hosts.map((host) => {
      const own = statuses?.[host];
      return [own?.status, own?.progress?.completed, own?.progress?.message.default_message];
    }),
  ];
}

function describe({ status, progress }: TaskInfo): string {
  return progress ? progress.message.default_message : `The remediation is ${status}.`;
}
