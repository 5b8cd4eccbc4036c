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
import type {
  KnownCluster,
  PolicyChange,
  PreparedCluster,
  RemediationPolicy,
  UpgradeActivities,
} from "../activities/contract";
import type { ClusterHost } from "../src/domain/host-remediation";
import { clusterStages, type ClusterStageType } from "../src/domain/cluster-progress";
import { interrupted } from "../src/domain/resource-end";
import type { ErrorBody } from "../src/domain/error-body";
import type { ClusterUpgradePlan } from "../src/domain/upgrade-plan";
import { isRemediatedTogether, ownOptionsOf, rolloutOf } from "../src/domain/rollout";
import { errorOf, isLost } from "./activity-failure";
import { clusterTarget } from "./activity-targets";
import { ClusterUpgradeState } from "./cluster-upgrade-state";
import { beginSignal, type ClusterUpgradeInput, type ResourceResult } from "./messages";
import { localFirst } from "./local-first";
import { endHereIfCancelled } from "./end-here-if-cancelled";
import { changeOptions, localOptions, readOptions, restoreOptions } from "./retry-policy";
import { untilAnswered } from "./until-answered";
import { upgradeHosts, type PreparedHosts } from "./upgrade-hosts";

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
  state.preparesTogether = patched("prepared-together");
  state.savesTasks = state.preparesTogether || patched("fewer-tasks");
  state.savesRoundTrips = state.savesTasks || patched("fewer-round-trips");
  const { cluster, upgradedBefore } = state.input;
  const { hosts, policy: known } = await stage(state, "READ_HOSTS", () => readHosts(state));
  state.record({ type: "HostsRead", hosts, upgradedBefore, kind: cluster.kind });
  if (state.preparesTogether) state.publish("Preparing");
  await state.report();
  if (state.waitingHosts().length === 0) {
    const outcome = state.hostCounts().upgraded > 0 ? "SUCCESSFUL" : "NOTHING_TO_DO";
    return state.end(outcome, `Nothing to do: every host runs ${cluster.targetVersion}`);
  }
  // A pause may last for days, in which somebody may change the policy.
  const isPaused = state.pause.closed;
  await state.pause.pass();
  if (!state.preparesTogether) state.publish("Preparing");
  const policy = (isPaused ? undefined : known) ?? { previous: await readPolicy(state) };
  await restoringAfterwards(state, policy.previous, async () => {
    const prepared = (await prepareTogether(state, policy)) ?? (await prepareInSteps(state, policy));
    state.publish("Upgrading hosts");
    await stage(state, "UPGRADE_HOSTS", () => upgradeHosts(state, hosts, prepared));
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

/** What the policy is made from, recorded in the history before it is changed. */
type PolicyBefore = Pick<PolicyChange, "previous" | "effective">;

/** The hosts, and with them the policy where both were known at once. */
async function readHosts(
  state: ClusterUpgradeState,
): Promise<{ readonly hosts: ClusterHost[]; readonly policy?: PolicyBefore | undefined }> {
  const { cluster, upgradeId, waits } = state.input;
  const target = clusterTarget(cluster, upgradeId);
  const summary = `${cluster.name}: read hosts`;
  const input = { ...target, ...(state.preparesTogether && { withPolicy: true }) };
  const { hosts, policy } = await localFirst<KnownCluster>(
    state.savesTasks,
    () => local.readKnownHosts.executeWithOptions({ ...localOptions, summary }, [input]),
    () => Promise.resolve({}),
  );
  if (hosts) return { hosts, policy };
  return {
    hosts: await untilAnswered(waits, () =>
      reads.readClusterHosts.executeWithOptions({ ...readOptions(waits), summary }, [target]),
    ),
  };
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

/**
 * Policy, image and the first look at the cluster's health by one Activity. Undefined where older builds have begun, where
 * the policy takes more than a request, or where it was not taken at once: then nothing has been done.
 */
async function prepareTogether(state: ClusterUpgradeState, before: PolicyBefore): Promise<PreparedHosts | undefined> {
  if (!state.preparesTogether || !isOneRequest(state.input.cluster)) return undefined;
  await endHereIfCancelled();
  const [policy, image] = ["PUT_REMEDIATION_POLICY", "SET_DESIRED_IMAGE"] as const;
  for (const stage of [policy, image]) state.record({ type: "StageStarted", stage });
  let prepared: PreparedCluster;
  try {
    prepared = await setDesiredImage(state, before);
  } catch (failure) {
    // It goes on to the image only after the policy; of one that was cut short nobody knows how far it was.
    if (isCancellation(failure) || isLost(failure)) stageFailed(state, policy, failure);
    else state.record({ type: "StageSucceeded", stage: policy });
    stageFailed(state, image, failure);
    throw failure;
  }
  if (prepared.policy === "LEFT") {
    for (const stage of [policy, image]) state.record({ type: "StageLeft", stage });
    return undefined;
  }
  state.record({ type: "StageSucceeded", stage: image });
  if (prepared.policy === "PUT") {
    state.record({ type: "StageSucceeded", stage: policy });
    return prepared;
  }
  // Its worker is older than this one, or its policy was put by an earlier attempt, of whatever worker.
  await stage(state, policy, () => putPolicy(state, before));
  return { commit: prepared.commit };
}

/** The same by an Activity each, without the look. */
async function prepareInSteps(state: ClusterUpgradeState, before: PolicyBefore): Promise<PreparedHosts> {
  await stage(state, "PUT_REMEDIATION_POLICY", () => putPolicy(state, before));
  return stage(state, "SET_DESIRED_IMAGE", () => setDesiredImage(state));
}

function putPolicy(state: ClusterUpgradeState, before: PolicyBefore): Promise<void> {
  const { cluster, upgradeId, waits } = state.input;
  return untilAnswered(waits, () =>
    changes.putRemediationPolicy.executeWithOptions(
      { ...changeOptions(cluster.attempts, waits), summary: `${cluster.name}: set remediation policy` },
      [{ ...clusterTarget(cluster, upgradeId), ...policyToPut(cluster, before) }],
    ),
  );
}

function policyToPut(cluster: ClusterUpgradePlan, before: PolicyBefore): PolicyChange {
  return {
    options: cluster.options,
    ...before,
    ...(isRemediatedTogether(cluster) && { hostsAtOnce: rolloutOf(cluster).hostsAtOnce }),
  };
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

/** Whether the policy is all that is put, and put back. Settings of the cluster take tasks of the component manager. */
function isOneRequest(cluster: ClusterUpgradePlan): boolean {
  return cluster.kind === "IMAGE" && !ownOptionsOf(cluster);
}

/** `before`: with it the policy is put first, and the cluster's health looked at in the end. */
function setDesiredImage(state: ClusterUpgradeState, before?: PolicyBefore): Promise<PreparedCluster> {
  const { cluster, upgradeId, waits } = state.input;
  const what = before ? "remediation policy and desired image" : "desired image";
  return untilAnswered(waits, () =>
    changes.setDesiredImage.executeWithOptions(
      { ...changeOptions(cluster.attempts, waits), summary: `${cluster.name}: set ${what} ${cluster.targetVersion}` },
      [
        {
          ...clusterTarget(cluster, upgradeId),
          ...(before && { policy: policyToPut(cluster, before), healthGate: rolloutOf(cluster).healthGate }),
        },
      ],
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
    stageFailed(state, type, failure);
    throw failure;
  }
}

function stageFailed(state: ClusterUpgradeState, type: ClusterStageType, failure: unknown): void {
  const error = isCancellation(failure) ? interrupted(clusterStages[type]) : errorOf(failure);
  state.record({ type: "StageFailed", stage: type, error });
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
