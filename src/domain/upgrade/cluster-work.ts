import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "../codec";
import { type ClusterUpgradePlan, clustersOf, rolloutOf, type UpgradePlan } from "../plan/upgrade-plan";
import type { UpgradeFacts } from "./upgrade-facts";

/**
 * How long a group of hosts took that were in work at once, on the average of a cluster in one upgrade. An upgrade leaves it
 * in its memo, for forecasts of later ones.
 */
export const ClusterWork = model(
  { resourceId: t.string, kind: OneOf("IMAGE", "BASELINE"), groupSeconds: WholeNumber },
  {},
);
export type ClusterWork = t.TypeOf<typeof ClusterWork>;

/** How many of the last upgrades of a cluster a forecast is made from. */
const mostUpgrades = 5;

/** The work of each cluster of an upgrade of which a host was done in its last attempt, without waiting. */
export function workOfClusters(plan: UpgradePlan, { resources }: UpgradeFacts): ClusterWork[] {
  return clustersOf(plan).flatMap((cluster) => {
    const { resourceId, kind } = cluster;
    const { firstReport, lastReport } = resources[resourceId] ?? {};
    if (!firstReport || !lastReport || lastReport.ended <= firstReport.ended) return [];
    const groups = Math.ceil((lastReport.ended - firstReport.ended) / rolloutOf(cluster).hostsAtOnce);
    const milliseconds = (lastReport.workMilliseconds - firstReport.workMilliseconds) / groups;
    return [{ resourceId, kind, groupSeconds: Math.round(milliseconds / 1000) }];
  });
}

/**
 * How many seconds a group of hosts of a cluster is expected to take: the median of its last upgrades, the latest first in
 * `work`, else that of clusters of its kind. Undefined where there are none.
 */
export function expectedGroupSeconds(
  { resourceId, kind }: Pick<ClusterUpgradePlan, "resourceId" | "kind">,
  work: readonly ClusterWork[],
): number | undefined {
  const own = work.filter((one) => one.resourceId === resourceId).slice(0, mostUpgrades);
  const known = own.length > 0 ? own : work.filter((one) => one.kind === kind);
  return median(known.map(({ groupSeconds }) => groupSeconds));
}

function median(numbers: readonly number[]): number | undefined {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return middle.length === 0 ? undefined : middle.reduce((sum, one) => sum + one, 0) / middle.length;
}

/**
 * For how many seconds something is in work of what begins at these times (epoch milliseconds) and takes so long; undefined
 * where that is not known of one.
 */
export function secondsTogether(
  all: readonly { readonly begin: number; readonly seconds: number | undefined }[],
): number | undefined {
  let [total, end] = [0, -Infinity];
  for (const { begin, seconds } of [...all].sort((a, b) => a.begin - b.begin)) {
    if (seconds === undefined) return undefined;
    const ends = begin + seconds * 1000;
    total += Math.max(0, ends - Math.max(begin, end));
    end = Math.max(end, ends);
  }
  return Math.round(total / 1000);
}
