import { CancellationScope, sleep } from "@temporalio/workflow";
import { leftoversOf } from "../src/domain/cluster-leftovers";
import type { ErrorBody } from "../src/domain/error-body";
import type { ClusterHost } from "../src/domain/host-remediation";
import { errorOf } from "./activity-failure";
import type { ClusterUpgradeState } from "./cluster-upgrade-state";
import { readHosts } from "./read-hosts";
import { upgradeHosts } from "./upgrade-hosts";

/** Rounds in which hosts that have joined are upgraded; those that join later are only named. */
const furtherRounds = 3;

/** What is wrong at the first look may pass by itself, as a host that restarts does (seconds). */
const secondLookSeconds = 30;

/**
 * Upgrades the hosts that have joined the cluster since its hosts were read, by the same rollout policy. Gives its hosts as
 * they were at the last look; undefined where they could not be read.
 */
export async function upgradeJoinedHosts(
  state: ClusterUpgradeState,
  commit: string | undefined,
): Promise<readonly ClusterHost[] | undefined> {
  const { kind } = state.input.cluster;
  for (let round = 0; ; round++) {
    // A cancellation leaves out what has joined; the hosts that the upgrade knows are done.
    const hosts = await readHosts(state).catch(() => undefined);
    const joined = state.unknownAmong(hosts ?? []);
    if (joined.length === 0 || round === furtherRounds) return hosts;
    state.record({ type: "HostsJoined", hosts: joined, kind });
    state.publish("Upgrading hosts that have joined the cluster");
    state.report();
    if (state.waitingHosts().length > 0) await upgradeHosts(state, joined, commit);
  }
}

/**
 * What is not as it should be in the end, by the last look at the hosts; where that has found something, by a second one.
 * `atFirst`: the hosts before anything was changed. A cluster that cannot be looked at is no failure: each of its hosts was
 * verified, and the end says so.
 */
export function findLeftovers(
  state: ClusterUpgradeState,
  looks: { readonly atFirst: readonly ClusterHost[]; readonly lastLook: readonly ClusterHost[] | undefined },
): Promise<readonly ErrorBody[]> {
  const { atFirst, lastLook } = looks;
  const { cluster, upgradedBefore } = state.input;
  // What an earlier attempt has upgraded was not in maintenance mode before it.
  const heldBefore = atFirst.flatMap(({ host, inMaintenanceMode }) =>
    inMaintenanceMode && !upgradedBefore.includes(host) ? [host] : [],
  );
  const judge = (hosts: readonly ClusterHost[]) => leftoversOf({ cluster, known: state.hosts, heldBefore, hosts });
  // All is done: a cancellation changes nothing of what there is to tell.
  return CancellationScope.nonCancellable(async () => {
    try {
      if (judge(lastLook ?? (await readHosts(state))).length === 0) return [];
      state.publish("Looking at every host once more");
      await sleep(secondLookSeconds * 1000, { summary: "before the second look at the hosts" });
      return judge(await readHosts(state));
    } catch (failure) {
      return [notVerified(cluster.name, errorOf(failure))];
    }
  });
}

function notVerified(name: string, cause: ErrorBody): ErrorBody {
  return {
    errorCode: "CLUSTER_NOT_VERIFIED",
    errorType: "FAILED_DEPENDENCY",
    message: `The hosts of cluster ${name} could not be looked at once more after their upgrade.`,
    remediationMessage: "Look in the component manager whether every host is connected, at the target and in service.",
    nestedErrors: [cause],
  };
}
