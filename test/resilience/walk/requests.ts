import type { Due, Request, seen } from "./upgrade-model";
import { bundleOf, type WalkedCluster } from "./walk-platform";
import type { Start, WalkedUpgrade } from "./walked-upgrade";

/** An upgrade in a line of the transcript. */
export const short = ({ id, slot }: WalkedUpgrade) => `${slot.cluster.simulated}/${id.slice(0, 8)}`;

/** The body of a POST. */
export function specOf({ resourceId }: WalkedCluster, version: number, { draft, due, attempts }: Start) {
  const action = attempts === 1 ? { action: "FAIL" } : { action: "RETRY", retryCount: attempts - 1, retryDelay: 0 };
  const options = { disableHac: true, disableDpm: true, hostosUpgradeFailureAction: action };
  return {
    ...{ bundleId: bundleOf(version), resourceType: "CLUSTER", draftMode: draft },
    resourceUpgradeSpecs: [{ resourceId, ...timeOf(due), hostosUpgradeOptionsSpec: options }],
  };
}

function timeOf(due: Due): object {
  const inMilliseconds = { SOON: 2_500, LATER: 86_400_000 };
  return due === "NOW"
    ? { upgradeNow: true }
    : { scheduledTimestamp: new Date(Date.now() + inMilliseconds[due]).toISOString() };
}

/** How a request is sent. */
export function callOf(
  { id, slot }: WalkedUpgrade,
  { name, due, host, finding }: Request,
): readonly [method: string, path: string, body?: unknown] {
  switch (name) {
    case "commit":
      return ["PATCH", `/v1/upgrades/${id}`, due === undefined ? {} : timeOf(due)];
    case "retry":
      return ["PATCH", `/v1/tasks/${id}`];
    case "cancel":
      return ["DELETE", `/v1/tasks/${id}`];
    case "skip":
      return [
        "POST",
        `/v1/upgrades/${id}/skip`,
        { resourceId: slot.cluster.resourceId, hostId: host, reason: "It is repaired" },
      ];
    case "skipCluster":
      return ["POST", `/v1/upgrades/${id}/skip`, { resourceId: slot.cluster.resourceId, reason: "It is repaired" }];
    case "acknowledge": {
      const { run, ...which } = finding ?? { run: 1, code: "HEALTH_CHECK_ERROR" };
      const spec = { ...which, resourceId: slot.cluster.resourceId, reason: "It is known" };
      return ["POST", `/v1/upgrades/${id}/prechecks/${id}-prechecks-${run}/acknowledge`, spec];
    }
    default:
      return ["POST", `/v1/upgrades/${id}/${name}`];
  }
}

/** What the answer to a request shows of the upgrade: a retry and a cancellation answer its Task, an acknowledgement that of the prechecks, the others the Upgrade. */
export function statusesOf(
  { name }: Request,
  body: { readonly status?: string } | undefined,
): Parameters<typeof seen>[1] {
  if (body?.status === undefined || name === "acknowledge") return {};
  return name === "retry" || name === "cancel" ? { task: body.status } : { upgrade: body.status };
}
