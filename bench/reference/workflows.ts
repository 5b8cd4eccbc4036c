import { executeChild, proxyActivities } from "@temporalio/workflow";
import type { ReferenceActivities, ReferenceCluster, ReferencePlan } from "./activities";

// A benchmark in which a host fails is to fail, not to try it again.
const { upgradeHost } = proxyActivities<ReferenceActivities>({
  startToCloseTimeout: "10 minutes",
  retry: { maximumAttempts: 1 },
});

/** The least that an upgrade can be: a child for each cluster. Returns the calls to the component manager. */
export async function bareUpgrade({ login, clusters }: ReferencePlan): Promise<number> {
  const calls = await Promise.all(clusters.map((cluster) => executeChild(bareCluster, { args: [login, cluster] })));
  return calls.reduce((total, ofCluster) => total + ofCluster, 0);
}

/** One Activity for each host of a cluster, in their order. */
export async function bareCluster(login: ReferencePlan["login"], cluster: ReferenceCluster): Promise<number> {
  const { hosts, ...target } = cluster;
  let calls = 0;
  for (const host of hosts) calls += await upgradeHost({ login, ...target, host });
  return calls;
}

/** Ends at once: what Visibility keeps of an upgrade, without the upgrade. */
export function upgradeWorkflow(): Promise<void> {
  return Promise.resolve();
}
