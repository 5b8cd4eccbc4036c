import { CancellationScope, isCancellation, proxyActivities, sleep } from "@temporalio/workflow";
import type { HostBefore, UpgradeActivities } from "../activities/contract";
import { HostProgress, type ClusterHost } from "../src/domain/host-remediation";
import { toTimestamp } from "../src/domain/timestamp";
import type { ClusterUpgradePlan, RolloutPolicy } from "../src/domain/upgrade-plan";
import { errorOf, progressOf } from "./activity-failure";
import { clusterTarget } from "./activity-targets";
import type { ClusterUpgradeState } from "./cluster-upgrade-state";
import { endHereIfCancelled } from "./end-here-if-cancelled";
import { remediateHost } from "./remediate-host";
import { gateOptions, readOptions } from "./retry-policy";
import { untilAnswered } from "./until-answered";

const gates = proxyActivities<Pick<UpgradeActivities, "awaitClusterHealth">>(gateOptions);
const reads = proxyActivities<Pick<UpgradeActivities, "readHostBefore">>(readOptions);

/** Plans made before there was a policy: one host at a time, and nothing in between. */
const plainRollout: RolloutPolicy = { hostsAtOnce: 1, soakSeconds: 0, healthGate: false, toleratedFailures: 0 };

/**
 * Upgrades the hosts of a cluster in their order by its rollout policy: so many at once, with the health gate before
 * and the soak time after each group. Failures beyond what the policy tolerates end the cluster: the hosts that follow
 * are not begun, and the last failure is thrown.
 */
export async function upgradeHosts(
  state: ClusterUpgradeState,
  hosts: readonly ClusterHost[],
  commit?: string,
): Promise<void> {
  const rollout = state.input.cluster.rollout ?? plainRollout;
  const known = new Map(hosts.map((host) => [host.host, host]));
  const waiting = state.waitingHosts().flatMap((id) => known.get(id) ?? []);
  for (let first = 0; first < waiting.length; first += rollout.hostsAtOnce) {
    await endHereIfCancelled();
    if (first > 0) await soak(state, rollout);
    if (rollout.healthGate) await awaitHealth(state);
    await endHereIfCancelled();
    const group = waiting.slice(first, first + rollout.hostsAtOnce);
    const failures = await upgradeGroup(state, group, commit);
    const last = failures.at(-1);
    if (last && state.hostCounts().failed > rollout.toleratedFailures) throw last.cause;
  }
}

/** Hosts at the same time, each to its end. Gives the failures; throws only where the upgrade was cancelled. */
async function upgradeGroup(
  state: ClusterUpgradeState,
  group: readonly ClusterHost[],
  commit: string | undefined,
): Promise<{ readonly cause: unknown }[]> {
  const ended = await Promise.allSettled(group.map((host) => upgradeHost(state, host, commit)));
  const failures = ended.flatMap((end) => (end.status === "rejected" ? [{ cause: end.reason as unknown }] : []));
  const cancelled = failures.find(({ cause }) => isCancellation(cause));
  if (cancelled) throw cancelled.cause;
  return failures;
}

async function upgradeHost(state: ClusterUpgradeState, host: ClusterHost, commit: string | undefined): Promise<void> {
  const { cluster } = state.input;
  state.record({ type: "HostStarted", host: host.host });
  try {
    const before = cluster.kind === "BASELINE" ? await readHostBefore(cluster, host) : undefined;
    const result = await remediateHost({
      ...clusterTarget(cluster),
      host: { host: host.host, fqdn: host.fqdn },
      attempts: cluster.attempts,
      ...(commit !== undefined && { commit }),
      ...(before && { before }),
    });
    state.record({ type: "HostSucceeded", host: host.host, result });
  } catch (failure) {
    const stages = progressOf(failure, HostProgress)?.stages;
    if (!isCancellation(failure))
      state.record({ type: "HostFailed", host: host.host, error: errorOf(failure), ...(stages && { stages }) });
    throw failure;
  } finally {
    await CancellationScope.nonCancellable(() => state.report());
  }
}

/** What has to be put back later, recorded in the history before anything is changed. */
function readHostBefore(cluster: ClusterUpgradePlan, { host, fqdn }: ClusterHost): Promise<HostBefore> {
  return untilAnswered(() =>
    reads.readHostBefore.executeWithOptions({ ...readOptions, summary: `${fqdn}: read state` }, [
      { ...clusterTarget(cluster), host: { host, fqdn } },
    ]),
  );
}

async function soak(state: ClusterUpgradeState, { soakSeconds }: RolloutPolicy): Promise<void> {
  if (soakSeconds === 0) return;
  const until = toTimestamp(Date.now() + soakSeconds * 1000);
  const description = `until ${until}: ${soakSeconds} s after each host before the next (rollout policy).`;
  state.record({ type: "Waiting", description });
  state.publish(`Waiting ${description}`);
  await sleep(soakSeconds * 1000, { summary: `soak until ${until}` });
}

async function awaitHealth(state: ClusterUpgradeState): Promise<void> {
  const { cluster } = state.input;
  state.record({
    type: "Waiting",
    description: "for the cluster to be healthy before the next host (rollout policy).",
  });
  await untilAnswered(() =>
    gates.awaitClusterHealth.executeWithOptions(
      {
        ...gateOptions,
        summary: `${cluster.name}: healthy enough for the next host?`,
      },
      [clusterTarget(cluster)],
    ),
  );
}
