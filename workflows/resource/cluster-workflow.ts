import { ApplicationFailure, isCancellation, proxyActivities } from "@temporalio/workflow";
import type { RecordedPolicy, UpgradeActivities } from "../../activities/contract";
import type { ErrorBody } from "../../src/domain/errors";
import { isRemediatedTogether, rolloutOf } from "../../src/domain/plan/upgrade-plan";
import { clusterWarning } from "../../src/domain/task/cluster-leftovers";
import { clusterStages, type ClusterStageType } from "../../src/domain/task/cluster-progress";
import type { ClusterHost } from "../../src/domain/task/host-remediation";
import { leftOutWarnings } from "../../src/domain/task/left-out";
import { interrupted } from "../../src/domain/task/sub-task";
import { changeOptions, clusterTarget, readOptions, restoreOptions } from "../activity-options";
import { errorOf, closureIn } from "../failures";
import { retryWhileLost } from "../lost-activities";
import type { ClusterUpgradeInput, ResourceResult } from "../messages";
import { findLeftovers, withLeftovers } from "./cluster-leftovers";
import { ClusterUpgradeState } from "./cluster-state";
import { leftBehind, type ResourceEnding, restoringAfterwards, runResource, runStage } from "./resource-workflow";
import { checkAfterHosts, readHosts, upgradeHosts } from "./upgrade-hosts";

const reads = proxyActivities<UpgradeActivities>(readOptions());
const changes = proxyActivities<UpgradeActivities>(changeOptions());
const restores = proxyActivities<UpgradeActivities>(restoreOptions());

/** Upgrades one cluster, host by host or several at once. See {@link runResource}. */
export function clusterUpgradeWorkflow(input: ClusterUpgradeInput): Promise<ResourceResult> {
  const state = new ClusterUpgradeState(input);
  return runResource(state, {
    title: `Cluster ${input.cluster.name}`,
    upgrade: () => upgradeCluster(state),
    // What is left to be mended by hand matters more than that the cluster was cancelled.
    cancelledBy: (failure) => (state.hasLeftovers || isPolicyNotRestored(failure) ? errorOf(failure) : undefined),
  });
}

async function upgradeCluster(state: ClusterUpgradeState): Promise<ResourceEnding> {
  const { cluster, upgradedBefore } = state.input;
  const hosts = await stage(state, "READ_HOSTS", () => readHosts(state));
  state.record({ type: "HostsRead", hosts, upgradedBefore, kind: cluster.kind });
  state.hostsChanged();
  state.hostsWait();
  // Of an earlier attempt, which a check after its hosts may have failed.
  await checkAfterHosts(state, hosts);
  if (state.waitingHosts().length === 0) {
    const leftovers = await findLeftovers(state, { atFirst: hosts, lastLook: hosts, onlyBegun: false });
    const leftOut = leftOutWarnings(cluster.name, state.hosts);
    if (leftOut.length > 0 || leftovers.length > 0)
      return withWarning(state, clusterWarning(cluster.name, leftOut, leftovers));
    const outcome = state.counts().upgraded > 0 ? "SUCCESSFUL" : "NOTHING_TO_DO";
    return { outcome, doing: `Nothing to do: ${everyHost(state)} runs ${cluster.targetVersion}` };
  }
  let policy = await readPolicyToChange(state);
  let lastLook: readonly ClusterHost[] | undefined;
  try {
    await restoringAfterwards(
      async () => {
        policy = await changePolicy(state, policy);
        const { commit } = await stage(state, "SET_DESIRED_IMAGE", () => setDesiredImage(state));
        state.publish("Upgrading hosts");
        lastLook = await stage(state, "UPGRADE_HOSTS", async () => {
          await upgradeHosts(state, hosts, commit);
          return upgradeJoinedHosts(state, commit);
        });
      },
      () => stage(state, "RESTORE_REMEDIATION_POLICY", () => restorePolicy(state, policy)),
      (cause, before) => policyNotRestored(cluster.name, cause, before),
    );
  } catch (failure) {
    throw await withLeftovers(state, failure, hosts);
  }
  const warnings = state.hostWarnings();
  const leftovers = await findLeftovers(state, { atFirst: hosts, lastLook, onlyBegun: false });
  if (warnings.length === 0 && leftovers.length === 0)
    return { outcome: "SUCCESSFUL", doing: `Upgraded: ${everyHost(state)} runs ${cluster.targetVersion}` };
  return withWarning(state, clusterWarning(cluster.name, warnings, leftovers));
}

function everyHost(state: ClusterUpgradeState): string {
  return state.counts().leftOut === undefined ? "every host" : "every host that is not left out";
}

function withWarning(state: ClusterUpgradeState, error: ErrorBody): ResourceEnding {
  const doing = state.counts().upgraded > 0 ? "Upgraded, with warnings" : "Nothing to do, with warnings";
  return { outcome: "WITHIN_TOLERANCE", doing, error };
}

/** As it is right before it is changed: a pause that comes while it is read may last for days. */
async function readPolicyToChange(state: ClusterUpgradeState): Promise<RecordedPolicy> {
  let policy: RecordedPolicy;
  do {
    await state.pause.pass();
    state.publish("Preparing");
    policy = await readPolicy(state);
  } while (state.pause.closed);
  return policy;
}

/** The first change of the cluster. Gives the policy as it was: read again where a freeze has kept it from being changed. */
async function changePolicy(state: ClusterUpgradeState, read: RecordedPolicy): Promise<RecordedPolicy> {
  for (let policy = read; ; policy = await readPolicyToChange(state)) {
    try {
      await stage(state, "PUT_REMEDIATION_POLICY", () => putPolicy(state, policy));
      return policy;
    } catch (failure) {
      const closed = closureIn(failure);
      if (!closed) throw failure;
      await state.untilOpen(closed);
    }
  }
}

/** As it was, recorded in the history before it is changed. */
function readPolicy({ input: { cluster, upgradeId, waits } }: ClusterUpgradeState): Promise<RecordedPolicy> {
  return retryWhileLost(waits, () =>
    reads.readRemediationPolicy.executeWithOptions(
      { ...readOptions(waits), summary: `${cluster.name}: read remediation policy` },
      [clusterTarget(cluster, upgradeId)],
    ),
  );
}

function putPolicy(
  { input: { cluster, upgradeId, waits } }: ClusterUpgradeState,
  recorded: RecordedPolicy,
): Promise<void> {
  const { options, attempts } = cluster;
  const hostsAtOnce = isRemediatedTogether(cluster) ? { hostsAtOnce: rolloutOf(cluster).hostsAtOnce } : {};
  return retryWhileLost(waits, () =>
    changes.putRemediationPolicy.executeWithOptions(
      { ...changeOptions(attempts, waits), summary: `${cluster.name}: set remediation policy` },
      [{ ...clusterTarget(cluster, upgradeId), options, ...recorded, ...hostsAtOnce }],
    ),
  );
}

function setDesiredImage({ input: { cluster, upgradeId, waits } }: ClusterUpgradeState) {
  return retryWhileLost(waits, () =>
    changes.setDesiredImage.executeWithOptions(
      {
        ...changeOptions(cluster.attempts, waits),
        summary: `${cluster.name}: set desired image ${cluster.targetVersion}`,
      },
      [clusterTarget(cluster, upgradeId)],
    ),
  );
}

function restorePolicy(
  { input: { cluster, upgradeId, waits } }: ClusterUpgradeState,
  { previous }: RecordedPolicy,
): Promise<void> {
  return retryWhileLost(waits, () =>
    restores.restoreRemediationPolicy.executeWithOptions(
      { ...restoreOptions(waits), summary: `${cluster.name}: restore remediation policy` },
      [{ ...clusterTarget(cluster, upgradeId), previous }],
    ),
  );
}

function stage<T>(state: ClusterUpgradeState, type: ClusterStageType, work: () => Promise<T>): Promise<T> {
  return runStage(state, type, clusterStages[type], work);
}

const notRestored = "REMEDIATION_POLICY_NOT_RESTORED";

function isPolicyNotRestored(failure: unknown): boolean {
  return failure instanceof ApplicationFailure && failure.type === notRestored;
}

/** `before`: what had failed already when the restore failed as well. */
function policyNotRestored(
  name: string,
  cause: unknown,
  before: { readonly cause: unknown } | undefined,
): ApplicationFailure {
  const earlier: ErrorBody[] = before
    ? [isCancellation(before.cause) ? interrupted(`Cluster ${name}`) : errorOf(before.cause)]
    : [];
  const message = earlier[0] ? `${earlier[0].message} Moreover,` : `The hosts of cluster ${name} are upgraded, but`;
  return leftBehind(
    notRestored,
    {
      message: `${message} its remediation policy could not be restored.`,
      remediationMessage: "Restore what the nested errors name manually in the component manager, then retry.",
    },
    [...earlier, errorOf(cause)],
  );
}

/** Rounds in which hosts that have joined are upgraded; those that join later are only named. */
const furtherRounds = 3;

/**
 * Upgrades the hosts that have joined the cluster since its hosts were read, by the same rollout policy. Gives its hosts as
 * they were at the last look; undefined where they could not be read.
 */
async function upgradeJoinedHosts(
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
