import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from "@temporalio/workflow";
import type { RemediationPolicy, UpgradeActivities } from "../activities/contract";
import type { ClusterHost } from "../src/domain/host-remediation";
import { clusterStages, type ClusterStageType } from "../src/domain/cluster-progress";
import { interrupted } from "../src/domain/resource-end";
import type { ErrorBody } from "../src/domain/error-body";
import type { ClusterUpgradePlan } from "../src/domain/upgrade-plan";
import { isRemediatedTogether, ownOptionsOf, rolloutOf } from "../src/domain/rollout";
import { errorOf } from "./activity-failure";
import { clusterTarget } from "./activity-targets";
import { ClusterUpgradeState } from "./cluster-upgrade-state";
import { beginSignal, type ClusterUpgradeInput, type ResourceResult } from "./messages";
import { localFirst } from "./local-first";
import { endHereIfCancelled } from "./end-here-if-cancelled";
import { changeOptions, localOptions, readOptions, restoreOptions } from "./retry-policy";
import { untilAnswered } from "./until-answered";
import { upgradeHosts } from "./upgrade-hosts";

const reads = proxyActivities<UpgradeActivities>(readOptions());
const local =
  proxyLocalActivities<
    Pick<UpgradeActivities, "readKnownHosts" | "readRemediationPolicy" | "restoreRemediationPolicy">
  >(localOptions);
const changes = proxyActivities<UpgradeActivities>(changeOptions({ maximumAttempts: 1, retryDelay: 0 }));
const restores = proxyActivities<UpgradeActivities>(restoreOptions());

/**
 * Upgrades one cluster, host by host or several at once. Its Workflow ID is the cluster's lock: it is held from the start,
 * also while it waits for its turn. Closes as completed, failed or cancelled, with a {@link ResourceResult} in the
 * result or in the failure's details and the whole SubTask in its memo.
 */
export async function clusterUpgradeWorkflow(received: ClusterUpgradeInput): Promise<ResourceResult> {
  const input = asBegun(received);
  const state = new ClusterUpgradeState(input);
  const turn = { begun: false };
  setHandler(beginSignal, () => {
    turn.begun = true;
  });
  state.publish("Waiting for its turn");
  try {
    await condition(() => turn.begun);
    await state.pause.pass();
    return await upgradeCluster(state);
  } catch (failure) {
    await state.tellLastWord();
    const { name } = input.cluster;
    // Whatever failed last: the upgrade was cancelled, and that is how it ends.
    if (CancellationScope.current().consideredCancelled) {
      if (turn.begun) state.end("CANCELLED", "Cancelled", leftBehind(failure) ?? interrupted(`Cluster ${name}`));
      else state.end("NOT_BEGUN", "Cancelled");
      throw isCancellation(failure) ? failure : new CancelledFailure(`Cluster ${name} was cancelled`);
    }
    const error = errorOf(failure);
    const result = state.end("FAILED", "Failed", error);
    throw ApplicationFailure.nonRetryable(error.message, error.errorCode, result);
  }
}

/** Upgrades that have begun before the service could carry such options out itself go on host by host. */
function asBegun(input: ClusterUpgradeInput): ClusterUpgradeInput {
  const { cluster } = input;
  if (!ownOptionsOf(cluster) || patched("options-of-hosts-at-once")) return input;
  return { ...input, cluster: { ...cluster, rollout: { ...rolloutOf(cluster), hostsAtOnce: 1 } } };
}

async function upgradeCluster(state: ClusterUpgradeState): Promise<ResourceResult> {
  // Each marker costs events, so a cluster that this build begins has one.
  state.savesTasks = patched("fewer-tasks");
  state.savesRoundTrips = state.savesTasks || patched("fewer-round-trips");
  const { cluster, upgradedBefore } = state.input;
  const hosts = await stage(state, "READ_HOSTS", () => readHosts(state));
  state.record({ type: "HostsRead", hosts, upgradedBefore, kind: cluster.kind });
  await state.report();
  if (state.waitingHosts().length === 0) {
    const outcome = state.hostCounts().upgraded > 0 ? "SUCCESSFUL" : "NOTHING_TO_DO";
    return state.end(outcome, `Nothing to do: every host runs ${cluster.targetVersion}`);
  }
  await state.pause.pass();
  state.publish("Preparing");
  const previous = await readPolicy(state);
  await restoringAfterwards(state, previous, async () => {
    await stage(state, "PUT_REMEDIATION_POLICY", () => putPolicy(state, previous));
    const { commit } = await stage(state, "SET_DESIRED_IMAGE", () => setDesiredImage(state));
    state.publish("Upgrading hosts");
    await stage(state, "UPGRADE_HOSTS", () => upgradeHosts(state, hosts, commit));
  });
  await state.tellLastWord();
  const { failed } = state.hostCounts();
  return failed > 0
    ? state.end("WITHIN_TOLERANCE", `${failed} hosts failed, as many as are tolerated`, state.hostErrors(failed))
    : state.end("SUCCESSFUL", `Every host runs ${cluster.targetVersion}`);
}

/** Puts the remediation policy back whatever happens in between: also after a failure and a cancellation. */
async function restoringAfterwards(
  state: ClusterUpgradeState,
  previous: RemediationPolicy,
  work: () => Promise<void>,
): Promise<void> {
  let failure: { readonly cause: unknown } | undefined;
  try {
    await work();
  } catch (cause) {
    failure = { cause };
  }
  const { cluster } = state.input;
  const errorBefore = () => {
    if (!failure) return undefined;
    return isCancellation(failure.cause) ? interrupted(`Cluster ${cluster.name}`) : errorOf(failure.cause);
  };
  await CancellationScope.nonCancellable(async () => {
    try {
      await stage(state, "RESTORE_REMEDIATION_POLICY", () => restorePolicy(state, previous));
    } catch (cause) {
      failure = { cause: notRestored(cluster.name, errorOf(cause), errorBefore()) };
    }
  });
  if (failure) throw failure.cause;
}

async function readHosts(state: ClusterUpgradeState): Promise<ClusterHost[]> {
  const { cluster, upgradeId, waits } = state.input;
  const target = clusterTarget(cluster, upgradeId);
  const summary = `${cluster.name}: read hosts`;
  const { hosts } = await localFirst<{ readonly hosts?: ClusterHost[] }>(
    state.savesTasks,
    () => local.readKnownHosts.executeWithOptions({ ...localOptions, summary }, [target]),
    () => Promise.resolve({}),
  );
  if (hosts) return hosts;
  return untilAnswered(waits, () =>
    reads.readClusterHosts.executeWithOptions({ ...readOptions(waits), summary }, [target]),
  );
}

/** As it was, recorded in the history before it is changed. */
function readPolicy(state: ClusterUpgradeState): Promise<RemediationPolicy> {
  const { cluster, upgradeId, waits } = state.input;
  const target = clusterTarget(cluster, upgradeId);
  const summary = `${cluster.name}: read remediation policy`;
  return localFirst(
    state.savesRoundTrips,
    () => local.readRemediationPolicy.executeWithOptions({ ...localOptions, summary }, [target]),
    () =>
      untilAnswered(waits, () =>
        reads.readRemediationPolicy.executeWithOptions({ ...readOptions(waits), summary }, [target]),
      ),
  );
}

function putPolicy(state: ClusterUpgradeState, previous: RemediationPolicy): Promise<void> {
  const { cluster, upgradeId, waits } = state.input;
  return untilAnswered(waits, () =>
    changes.putRemediationPolicy.executeWithOptions(
      { ...changeOptions(cluster.attempts, waits), summary: `${cluster.name}: set remediation policy` },
      [
        {
          ...clusterTarget(cluster, upgradeId),
          options: cluster.options,
          previous,
          ...(isRemediatedTogether(cluster) && { hostsAtOnce: rolloutOf(cluster).hostsAtOnce }),
        },
      ],
    ),
  );
}

function restorePolicy(state: ClusterUpgradeState, previous: RemediationPolicy): Promise<void> {
  const { cluster, upgradeId, waits } = state.input;
  const summary = `${cluster.name}: restore remediation policy`;
  const input = { ...clusterTarget(cluster, upgradeId), previous };
  return localFirst(
    state.savesTasks && isOneRequest(cluster),
    () => local.restoreRemediationPolicy.executeWithOptions({ ...localOptions, summary }, [input]),
    () =>
      untilAnswered(waits, () =>
        restores.restoreRemediationPolicy.executeWithOptions({ ...restoreOptions(waits), summary }, [input]),
      ),
  );
}

/** Whether the policy is all that is put back. Settings of the cluster take tasks of the component manager. */
function isOneRequest(cluster: ClusterUpgradePlan): boolean {
  return cluster.kind === "IMAGE" && !ownOptionsOf(cluster);
}

function setDesiredImage(state: ClusterUpgradeState) {
  const { cluster, waits } = state.input;
  return untilAnswered(waits, () =>
    changes.setDesiredImage.executeWithOptions(
      {
        ...changeOptions(cluster.attempts, waits),
        summary: `${cluster.name}: set desired image ${cluster.targetVersion}`,
      },
      [clusterTarget(state.input.cluster, state.input.upgradeId)],
    ),
  );
}

async function stage<T>(state: ClusterUpgradeState, type: ClusterStageType, work: () => Promise<T>): Promise<T> {
  await endHereIfCancelled();
  state.record({ type: "StageStarted", stage: type });
  try {
    const result = await work();
    state.record({ type: "StageSucceeded", stage: type });
    return result;
  } catch (failure) {
    const error = isCancellation(failure) ? interrupted(clusterStages[type]) : errorOf(failure);
    state.record({ type: "StageFailed", stage: type, error });
    throw failure;
  }
}

const policyNotRestored = "REMEDIATION_POLICY_NOT_RESTORED";

/** What a cancelled cluster leaves to be mended by hand; that matters more than that it was cancelled. */
function leftBehind(failure: unknown): ErrorBody | undefined {
  const left = failure instanceof ApplicationFailure && failure.type === policyNotRestored;
  return left ? errorOf(failure) : undefined;
}

/** `before`: what had failed already when the restore failed as well. */
function notRestored(name: string, cause: ErrorBody, before?: ErrorBody): ApplicationFailure {
  const error: ErrorBody = {
    errorCode: policyNotRestored,
    errorType: "FAILED_DEPENDENCY",
    message: `${before ? `${before.message} Moreover,` : `The hosts of cluster ${name} are upgraded, but`} its remediation policy could not be put back.`,
    remediationMessage: "Put back by hand in the component manager what the nested errors name, then retry.",
    nestedErrors: [...(before ? [before] : []), cause],
  };
  return ApplicationFailure.nonRetryable(error.message, policyNotRestored, { error });
}
