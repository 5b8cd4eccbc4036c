import { isRight } from "fp-ts/Either";
import type * as t from "io-ts";
import { model, Text } from "../codec";
import type { ErrorBody } from "../errors";
import type { SubTask } from "../spec/task";
import { applyHostActivity } from "./cluster-progress";
import { attemptOfHost, RemediationProgress } from "./host-remediation";
import { applyMgmtActivity, MgmtProgress } from "./mgmt-progress";
import { applyNetvirtActivity } from "./netvirt-progress";
import { NetvirtComponentType, NetvirtProgress } from "./netvirt-upgrade";
import { waitingPart } from "./sub-task";

/** An Activity of a resource's Workflow that has not ended, as the server tells of it. */
export interface PendingActivity {
  readonly activityId: string;
  /** Name of the Activity, such as `remediateHosts`. */
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
    case "remediateHosts":
      return applyRemediation(subTask, pending.activityId.replace(/^remediate\//, ""), {
        ...attempt,
        progress: latest(RemediationProgress, pending),
      });
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
 * The hosts of one Activity are those in work from its first on, in their order; where the SubTask is of another moment than
 * the progress, it stays as it is. An Activity of which nothing is known yet is shown at its first host.
 */
function applyRemediation(
  subTask: SubTask,
  first: string,
  {
    progress,
    ...attempt
  }: Pick<PendingActivity, "maximumAttempts" | "nextAttemptAt" | "lastError"> & {
    progress: RemediationProgress | undefined;
  },
): SubTask {
  const inWork = (subTask.subTasks ?? []).filter(({ status }) => status === "IN_PROGRESS");
  const from = inWork.findIndex(({ resources }) => resources?.[0]?.resourceId === first);
  if (!progress) return applyHostActivity(subTask, { host: first, ...attempt });
  const { length } = progress.phases;
  const hosts = from < 0 ? [] : inWork.slice(from, from + length);
  if (hosts.length !== length) return subTask;
  return hosts.reduce((known, { name, resources }, place) => {
    const host = resources?.[0]?.resourceId ?? "";
    const of = attemptOfHost(progress, place, name);
    if (length === 1) return applyHostActivity(known, { host, ...attempt, progress: of });
    // What has failed is only one of them: the others do not wait.
    const { lastError: _of, nextAttemptAt, ...limit } = attempt;
    const waits = of.lastError && nextAttemptAt !== undefined && { nextAttemptAt };
    return applyHostActivity(known, { host, ...limit, progress: of, ...waits });
  }, subTask);
}

function latest<P>(codec: t.Decoder<unknown, P>, { heartbeat, progressAtFailure }: PendingActivity): P | undefined {
  const [now, before] = [codec.decode(heartbeat), codec.decode(progressAtFailure)];
  return isRight(now) ? now.right : isRight(before) ? before.right : undefined;
}
