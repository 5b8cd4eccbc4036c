import { ApplicationFailure, CancellationScope, isCancellation, proxyActivities, sleep } from "@temporalio/workflow";
import type { HostToRestore, UpgradeActivities } from "../../activities/contract";
import type { ErrorBody } from "../../src/domain/errors";
import { clusterWarning, errorWithLeftovers, leftoversOf } from "../../src/domain/task/cluster-leftovers";
import type { ClusterHost } from "../../src/domain/task/host-remediation";
import { interrupted } from "../../src/domain/task/sub-task";
import { changeOptions, clusterTarget } from "../activity-options";
import { errorOf } from "../failures";
import { retryWhileLost } from "../lost-activities";
import type { ClusterUpgradeState } from "./cluster-state";
import { readHosts } from "./upgrade-hosts";

const changes = proxyActivities<Pick<UpgradeActivities, "restoreHosts">>(changeOptions());

/** What is wrong at the first look may pass by itself, as a host that restarts does (seconds). */
const secondLookAfter = 30;

interface Looks {
  /** The hosts before anything was changed. */
  readonly atFirst: readonly ClusterHost[];
  /** The hosts at the end, where they have just been read. */
  readonly lastLook: readonly ClusterHost[] | undefined;
  /** The cluster has failed or was cancelled: only hosts that were begun are looked at. */
  readonly onlyBegun: boolean;
}

/**
 * What is not as it should be in the end, by the last look at the hosts. Where that has found something there is a second
 * one; what is still wrong then and was caused by attempts of this upgrade is put back, before a third one. A cluster that
 * cannot be looked at is no failure: each of its hosts was verified, and the end says so.
 */
export function findLeftovers(
  state: ClusterUpgradeState,
  { atFirst, lastLook, onlyBegun }: Looks,
): Promise<readonly ErrorBody[]> {
  const { cluster, upgradedBefore } = state.input;
  // What an earlier attempt has upgraded was not in maintenance mode before it.
  const heldBefore = atFirst.flatMap(({ host, inMaintenanceMode }) =>
    inMaintenanceMode && !upgradedBefore.includes(host) ? [host] : [],
  );
  const judge = (hosts: readonly ClusterHost[]) => {
    if (onlyBegun) state.record({ type: "HostsLookedAt", hosts });
    for (const host of hosts) noteBackInService(state, host);
    return leftoversOf({ cluster, known: state.hosts, heldBefore, hosts, onlyBegun });
  };
  // All is done: a cancellation changes nothing of what there is to tell.
  return CancellationScope.nonCancellable(async () => {
    try {
      if (judge(lastLook ?? (await readHosts(state))).length === 0) return [];
      state.publish("Checking every host again");
      await sleep(secondLookAfter * 1000, { summary: "before the second check of the hosts" });
      const hosts = await readHosts(state);
      const left = judge(hosts);
      const ours = left.length > 0 ? hosts.flatMap((host) => hostToRestore(state, host) ?? []) : [];
      if (ours.length === 0) return left;
      state.publish("Restoring what attempts left behind");
      await restoreHosts(state, ours);
      return judge(await readHosts(state));
    } catch (failure) {
      return [notVerified(cluster.name, errorOf(failure))];
    }
  });
}

/** The failure of a cluster, with what is not as it should be after it. */
export async function withLeftovers(
  state: ClusterUpgradeState,
  failure: unknown,
  atFirst: readonly ClusterHost[],
): Promise<unknown> {
  if (!state.hasBegunHosts) return failure;
  const leftovers = await findLeftovers(state, { atFirst, lastLook: undefined, onlyBegun: true });
  if (leftovers.length === 0) return failure;
  state.hasLeftovers = true;
  const { name } = state.input.cluster;
  const error = isCancellation(failure)
    ? clusterWarning(name, [interrupted(`Cluster ${name}`)], leftovers)
    : errorWithLeftovers(name, errorOf(failure), leftovers);
  return ApplicationFailure.nonRetryable(error.message, error.errorCode, { error });
}

/** What attempts of this upgrade have changed of a host and not put back, as far as it is so now and can be changed. */
function hostToRestore(
  state: ClusterUpgradeState,
  { host, fqdn, connection, inMaintenanceMode, stoppedVms = [] }: ClusterHost,
): HostToRestore | undefined {
  if (connection !== undefined) return undefined;
  const ours = state.outOfServiceOf(host);
  const isInside = inMaintenanceMode === true && ours.inMaintenanceMode === true;
  const vms = stoppedVms.length > 0 && ours.vmsOff ? state.switchedOffOn(host) : [];
  return isInside || vms.length > 0 ? { host, fqdn, inMaintenanceMode: isInside, vms } : undefined;
}

function noteBackInService(state: ClusterUpgradeState, host: ClusterHost): void {
  const { connection, inMaintenanceMode, stoppedVms } = host;
  const ours = state.outOfServiceOf(host.host);
  if (!ours.inMaintenanceMode && !ours.vmsOff) return;
  if (connection !== undefined || inMaintenanceMode || stoppedVms) return;
  state.rememberOutOfService(host.host, {});
  state.record({ type: "HostBackInService", host: host.host });
}

/** What it cannot put back is seen when the hosts are read after it. */
async function restoreHosts(state: ClusterUpgradeState, hosts: readonly HostToRestore[]): Promise<void> {
  const { cluster, upgradeId, waits } = state.input;
  const summary = `${cluster.name}: restore ${hosts.length === 1 ? "1 host" : `${hosts.length} hosts`}`;
  const options = { ...changeOptions(undefined, waits), summary };
  try {
    await retryWhileLost(waits, () =>
      changes.restoreHosts.executeWithOptions(options, [{ ...clusterTarget(cluster, upgradeId), hosts }]),
    );
  } catch {
    // Told by what stays.
  }
}

function notVerified(name: string, cause: ErrorBody): ErrorBody {
  return {
    errorCode: "CLUSTER_NOT_VERIFIED",
    errorType: "FAILED_DEPENDENCY",
    message: `The final check of the hosts of cluster ${name} failed.`,
    remediationMessage: "Check in the component manager that every host is connected, at the target and in service.",
    nestedErrors: [cause],
  };
}
