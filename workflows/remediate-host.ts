import { CancellationScope, CancelledFailure, isCancellation, log, proxyActivities } from "@temporalio/workflow";
import type { RemediateHostInput, UpgradeActivities } from "../activities/contract";
import type { HostProgress, HostResult } from "../src/domain/host-remediation";
import { errorOf, lostActivity } from "./activity-failure";
import { changeOptions } from "./retry-policy";

const once = { maximumAttempts: 1, retryDelay: 0 };
const activities = proxyActivities<Pick<UpgradeActivities, "remediateHost">>(changeOptions(once));

/** How often the Activity of one host may be lost before its workers are given up: hours of crash loops. */
const maximumLosses = 200;

/**
 * Upgrades one host. Retries after reported failures are the server's, by the Activity's own retry policy. Where the
 * Activity is lost instead (its worker crashed or was stopped), it is scheduled again at once with the attempts that
 * are left and attaches to the remediation that still runs. Throws the ActivityFailure of the last attempt.
 */
export async function remediateHost(input: RemediateHostInput): Promise<HostResult> {
  let progress: HostProgress | undefined;
  for (let losses = 0; ; losses++) {
    try {
      return await runOnce({ ...input, ...(progress && { resume: progress }) });
    } catch (failure) {
      const lost = lostActivity(failure);
      progress = lost?.progress ?? progress;
      // The server itself cancels an Activity that waits for a worker or for its next attempt: nothing has then looked
      // after what an earlier run may have left running on the host.
      const unattended = isCancellation(failure) && (losses > 0 || input.attempts.maximumAttempts > 1);
      if (CancellationScope.current().consideredCancelled && (lost || unattended)) {
        return await stopSafely({ ...input, ...(progress && { resume: progress }) });
      }
      if (!lost || losses >= maximumLosses) throw failure;
      log.info("The Activity of a host was lost with its worker and is scheduled again", { host: input.host.fqdn });
    }
  }
}

/**
 * The upgrade was cancelled while nothing looked after the host: the remediation that may still run is brought to an
 * end. Throws CancelledFailure where the host is safe and not upgraded.
 */
function stopSafely(input: RemediateHostInput): Promise<HostResult> {
  return CancellationScope.nonCancellable(async () => {
    let { resume } = input;
    for (let losses = 0; ; losses++) {
      try {
        return await runOnce({ ...input, ...(resume && { resume }), stop: true });
      } catch (failure) {
        if (wasStopped(failure)) throw new CancelledFailure(`${input.host.fqdn} was brought to a safe end`);
        const lost = lostActivity(failure);
        if (!lost || losses >= maximumLosses) throw failure;
        resume = lost.progress ?? resume;
      }
    }
  });
}

/** An Activity that Temporal has not cancelled cannot end as cancelled; it says so in its error. */
function wasStopped(failure: unknown): boolean {
  return isCancellation(failure) || errorOf(failure).errorCode === "CANCELLED";
}

function runOnce(input: RemediateHostInput): Promise<HostResult> {
  const { attempts, host, resume } = input;
  const left = Math.max(1, attempts.maximumAttempts - (resume?.reportedFailures ?? 0));
  return activities.remediateHost.executeWithOptions(
    {
      ...changeOptions({ ...attempts, maximumAttempts: left }),
      activityId: `remediate/${host.host}`,
      summary: `${host.fqdn}: remediate`,
    },
    [input],
  );
}
