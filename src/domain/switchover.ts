import type { ErrorBody } from "./error-body";
import type { SubTask } from "./task";
import { toEpochMilliseconds, toTimestamp } from "./timestamp";
import type { MgmtUpgradePlan } from "./upgrade-plan";
import { beginTime, isInThePast, notBefore, saysWhen, type CommitSpec } from "./upgrade-schedule";

/** Where a management server of an upgrade stands, as far as the time of its switchover depends on it. */
export interface ServerStanding extends Pick<MgmtUpgradePlan, "resourceId" | "mechanism" | "scheduledTimestamp"> {
  readonly hasEnded: boolean;
}

/** What is wrong with the times that a commit gives switchovers; the first problem of all. `now` in epoch milliseconds. */
export function switchoverProblem(
  commit: CommitSpec,
  { servers, now }: { readonly servers: readonly ServerStanding[]; readonly now: number },
): ErrorBody | undefined {
  const { mgmtUpgradePatchSpecs: patches = [] } = commit;
  for (const [i, { resourceId, startSwitchoverTimestamp: time }] of patches.entries()) {
    const path = `mgmtUpgradePatchSpecs[${i}]`;
    const server = servers.find((one) => one.resourceId === resourceId);
    if (!server) {
      const own = servers.map((one) => one.resourceId).join(", ") || "none";
      return wrong(
        `${path}.resourceId`,
        "SERVER_UNKNOWN",
        `Management server ${resourceId} is not part of this upgrade, which has ${own}.`,
        "Name a management server of the upgrade.",
      );
    }
    if (patches.findIndex((one) => one.resourceId === resourceId) < i) {
      const message = `Management server ${resourceId} is named twice.`;
      return wrong(`${path}.resourceId`, "RESOURCE_DUPLICATE", message, "Name each once.");
    }
    if (server.mechanism === "InPlace") {
      return wrong(
        `${path}.startSwitchoverTimestamp`,
        "FIELD_NOT_FOR_MECHANISM",
        `Management server ${resourceId} is upgraded in place: there is no switchover.`,
        "Leave the server out.",
      );
    }
    if (server.hasEnded) return switchoverBegun(resourceId);
    if (isInThePast({ scheduledTimestamp: time }, now)) {
      const message = `The switchover time ${time} has passed.`;
      return wrong(`${path}.startSwitchoverTimestamp`, "SCHEDULE_IN_THE_PAST", message, "Give a time that lies ahead.");
    }
    const begins = beginTime(saysWhen(commit) ? timed(notBefore(commit)) : server);
    if (toEpochMilliseconds(time) < begins) {
      return wrong(
        `${path}.startSwitchoverTimestamp`,
        "SWITCHOVER_BEFORE_UPGRADE",
        `The switchover time ${time} lies before ${toTimestamp(begins)}, when the upgrade begins.`,
        "Give a later time.",
      );
    }
  }
  return undefined;
}

const timed = (scheduledTimestamp: string | undefined) =>
  scheduledTimestamp === undefined ? {} : { scheduledTimestamp };

/** Why the time of a switchover cannot be changed any more. */
export function switchoverBegun(resourceId: string): ErrorBody {
  return {
    errorCode: "REQUEST_NOT_POSSIBLE",
    errorType: "CONFLICT",
    message: `The switchover of management server ${resourceId} has begun or is over, so its time cannot be changed.`,
    remediationMessage: "Read the upgrade's Task to see where the management server stands.",
    context: { resourceId },
  };
}

/** Whether a Task shows that the switchover of a management server has begun, or that the server's part has ended. */
export function hasSwitchedOver(task: { readonly subTasks?: readonly SubTask[] }, resourceId: string): boolean {
  const servers = (task.subTasks ?? []).flatMap((product) => product.subTasks ?? []);
  const server = servers.find(
    ({ type, resources }) => type === "MGMT_SERVER_UPGRADE" && resources?.[0]?.resourceId === resourceId,
  );
  if (!server) return false;
  const switchover = server.stages?.find(({ type }) => type === "SWITCH_OVER");
  return server.completionTimestamp !== undefined || (switchover !== undefined && switchover.status !== "PENDING");
}

function wrong(path: string, errorCode: string, message: string, remediationMessage: string): ErrorBody {
  return { errorCode, errorType: "INVALID_INPUT", message, remediationMessage, context: { path } };
}
