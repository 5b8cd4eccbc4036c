import { isRight } from "fp-ts/Either";
import type * as t from "io-ts";
import { waitingPart } from "./paused-part";
import { applyHostActivity } from "./cluster-hosts";
import { model, Text } from "./codec";
import type { ErrorBody } from "./error-body";
import { HostProgress } from "./host-remediation";
import { failureAt, HostsProgress, progressOfHost } from "./hosts-remediation";
import { applyMgmtActivity, MgmtProgress } from "./mgmt-progress";
import { applyNetvirtActivity } from "./netvirt-progress";
import { NetvirtComponentType, NetvirtProgress } from "./netvirt-upgrade";
import type { SubTask } from "./task";

/** An Activity of a resource's Workflow that has not ended, as the server tells of it. */
export interface PendingActivity {
  readonly activityId: string;
  /** Name of the Activity, such as `remediateHost`. */
  readonly type: string;
  /** Its last heartbeat details. */
  readonly heartbeat: unknown;
  /** What it knew when it last failed. */
  readonly progressAtFailure: unknown;
  readonly lastError?: ErrorBody;
  /** When the server tries again; absent while an attempt runs. */
  readonly nextAttemptAt?: string;
  /** As its retry policy says; what an earlier run of the Activity has used up is only in its progress. */
  readonly maximumAttempts: number;
}

/** What the health gate waits for, as it goes on after "Waiting"; heartbeat details of `awaitClusterHealth`. */
export const HealthWait = model({ waitingFor: Text }, {});
export type HealthWait = t.TypeOf<typeof HealthWait>;

/** Grafts what a pending Activity says onto the SubTask of its resource; leaves it as it is where it says nothing. */
export function applyPendingActivity(subTask: SubTask, pending: PendingActivity): SubTask {
  const { lastError, nextAttemptAt, maximumAttempts } = pending;
  const attempt = {
    maximumAttempts,
    ...(lastError && { lastError }),
    ...(nextAttemptAt !== undefined && { nextAttemptAt }),
  };
  switch (pending.type) {
    case "remediateHost": {
      const progress = latest(HostProgress, pending);
      const host = pending.activityId.replace(/^remediate\//, "");
      return applyHostActivity(subTask, { host, ...attempt, ...(progress && { progress }) });
    }
    case "remediateHosts": {
      const progress = latest(HostsProgress, pending);
      return progress ? applyHostsProgress(subTask, progress, attempt) : subTask;
    }
    case "upgradeNetvirtComponent": {
      const progress = latest(NetvirtProgress, pending);
      const component = NetvirtComponentType.decode(pending.activityId.replace(/^component\//, ""));
      if (!isRight(component)) return subTask;
      return applyNetvirtActivity(subTask, { component: component.right, ...attempt, ...(progress && { progress }) });
    }
    case "stageMgmtUpdate":
    case "installMgmtUpdate":
    case "prepareMgmtMigration":
    case "switchOverMgmtMigration":
    case "cancelMgmtMigration": {
      const progress = latest(MgmtProgress, pending);
      return applyMgmtActivity(subTask, { ...attempt, ...(progress && { progress }) });
    }
    case "awaitClusterHealth": {
      const wait = HealthWait.decode(pending.heartbeat);
      if (!isRight(wait)) return subTask;
      return waitingPart(subTask, { code: "HEALTH_GATE", message: `Waiting ${wait.right.waitingFor}` });
    }
    default:
      return subTask;
  }
}

/**
 * Hosts that are remediated together are those in work, in their order; where the SubTask is of another moment than the
 * progress, it stays as it is.
 */
function applyHostsProgress(
  subTask: SubTask,
  progress: HostsProgress,
  attempt: Pick<PendingActivity, "maximumAttempts" | "nextAttemptAt">,
): SubTask {
  const inWork = (subTask.subTasks ?? []).filter(({ status }) => status === "IN_PROGRESS");
  if (inWork.length !== progress.phases.length) return subTask;
  return inWork.reduce((known, { name, resources }, place) => {
    const host = resources?.[0]?.resourceId ?? "";
    const failure = failureAt(progress, place);
    const of = progressOfHost(progress, host, place, progress.requestedAt ?? progress.began);
    return applyHostActivity(known, {
      host,
      maximumAttempts: attempt.maximumAttempts,
      progress: of,
      ...(failure && { lastError: { errorCode: failure.code, message: `Host ${name} ${failure.what}` } }),
      ...(failure && attempt.nextAttemptAt !== undefined && { nextAttemptAt: attempt.nextAttemptAt }),
    });
  }, subTask);
}

function latest<P>(codec: t.Decoder<unknown, P>, { heartbeat, progressAtFailure }: PendingActivity): P | undefined {
  const [now, before] = [codec.decode(heartbeat), codec.decode(progressAtFailure)];
  return isRight(now) ? now.right : isRight(before) ? before.right : undefined;
}
