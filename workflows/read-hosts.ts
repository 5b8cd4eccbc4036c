import { proxyActivities, sleep } from "@temporalio/workflow";
import type { UpgradeActivities } from "../activities/contract";
import type { ClusterHost } from "../src/domain/host-remediation";
import { clusterTarget } from "./activity-targets";
import type { ClusterUpgradeState } from "./cluster-upgrade-state";
import { readOptions } from "./retry-policy";
import { untilAnswered } from "./until-answered";

const reads = proxyActivities<Pick<UpgradeActivities, "readClusterHosts">>(readOptions());

/** Before a host that the cluster does not list is looked for again (seconds). */
const secondLookSeconds = 10;

/** The hosts of the cluster as they are now, with those virtual machines that the upgrade switched off and that do not run. */
export function readHosts({ input, switchedOff }: ClusterUpgradeState): Promise<ClusterHost[]> {
  const { cluster, upgradeId, waits } = input;
  const options = { ...readOptions(waits), summary: `${cluster.name}: read hosts` };
  const target = { ...clusterTarget(cluster, upgradeId), ...(switchedOff.length > 0 && { switchedOff }) };
  return untilAnswered(waits, () => reads.readClusterHosts.executeWithOptions(options, [target]));
}

/**
 * Of these hosts those that the cluster does not list, at a second look either. A look that fails has missed none, nor has
 * one that a cancellation cuts short: how its hosts ended is told all the same.
 */
export async function findMissing(state: ClusterUpgradeState, hosts: readonly string[]): Promise<ReadonlySet<string>> {
  const unlisted = async (asked: readonly string[]) => {
    const listed = new Set((await readHosts(state)).map(({ host }) => host));
    return asked.filter((host) => !listed.has(host));
  };
  if (hosts.length === 0) return new Set();
  try {
    const missing = await unlisted(hosts);
    if (missing.length === 0) return new Set();
    await sleep(secondLookSeconds * 1000, { summary: "before the second look at a host that is not listed" });
    return new Set(await unlisted(missing));
  } catch {
    return new Set();
  }
}
