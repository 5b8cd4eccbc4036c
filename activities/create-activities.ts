import pLimit from "p-limit";
import type { ActivityDependencies } from "./activity-dependencies";
import { activityRetryPolicy, restoreRetry, runActivity, shortBounds, pacedRetry } from "./activity-run";
import { remediateBaselineHost } from "./baseline/baseline-host-run";
import { readClusterSettings, restoreClusterSettings, switchOffClusterSettings } from "./baseline/cluster-settings";
import { patchSource } from "./baseline/patch-source";
import { readBaselineHosts, readHostBefore } from "./baseline/read-baseline-hosts";
import { vim25HostMaintenance } from "./baseline/vim25-host-maintenance";
import { checkBundle } from "./check-bundle";
import type { ClusterTarget, UpgradeActivities } from "./contract";
import { unobserved } from "./drivers/call-observation";
import { DriverError } from "./drivers/driver-error";
import { createVim25Client } from "./drivers/vim25/vim25-client";
import { createVlcmClient } from "./drivers/vlcm/vlcm-client";
import { awaitClusterHealth } from "./hostos/await-cluster-health";
import { lookAtHealth } from "./hostos/look-at-health";
import { putPolicy, readPolicy, restorePolicy } from "./hostos/image-policy";
import { remediateImageHosts } from "./hostos/image-remediation";
import { readClusterHosts } from "./hostos/read-cluster-hosts";
import { readRunningVms } from "./hostos/read-running-vms";
import { remediateHosts } from "./hostos/remediate-hosts";
import { setDesiredImage } from "./hostos/set-desired-image";
import { managerClients } from "./manager-clients";
import { createMgmtActivities } from "./mgmt/create-mgmt-activities";
import { createNetvirtActivities } from "./netvirt/create-netvirt-activities";
import { createNotificationActivities } from "./notifications/create-notification-activities";
import { runBaselinePrechecks } from "./prechecks/baseline/run-baseline-prechecks";
import { runImagePrechecks } from "./prechecks/run-cluster-prechecks";

/** How many locks are looked at together. */
const concurrentLockReads = 8;

/**
 * The Activities of a Worker. Changes wait out an outage themselves, because a retry by Temporal would use up an
 * attempt; reads and restores are short and retried by Temporal.
 */
export function createActivities(dependencies: ActivityDependencies): UpgradeActivities {
  const { componentManager, patchFor, readLockHolder, limits, observe = unobserved } = dependencies;
  const { callTimeout, clock } = limits;
  const lifecycleOf = managerClients(componentManager, (access) =>
    createVlcmClient(access, { callTimeout, clock, observe }),
  );
  const managementOf = managerClients(componentManager, (access) =>
    createVim25Client(access, { callTimeout, clock, observe }),
  );
  const maintenanceOf =
    dependencies.hostMaintenance ?? ((id: string) => vim25HostMaintenance({ client: managementOf(id), limits }));

  const gate = { clientOf: lifecycleOf, managementOf, maintenanceOf, limits };

  const lifecycle = ({ cluster }: ClusterTarget) => lifecycleOf(cluster.componentManagerId);
  const management = ({ cluster }: ClusterTarget) => managementOf(cluster.componentManagerId);
  const interfaces = (target: ClusterTarget) => ({
    client: lifecycle(target),
    management: management(target),
    maintenance: maintenanceOf(target.cluster.componentManagerId),
  });
  const patch = (target: ClusterTarget) => patchSource(patchFor, target);

  const contextOf = ({ cluster }: ClusterTarget) => ({
    cluster: cluster.name,
    componentManager: cluster.componentManagerId,
  });

  /** A short read. */
  const read = <A>(target: ClusterTarget, body: () => Promise<A>) =>
    runActivity(
      {
        context: contextOf(target),
        upgradeId: target.upgradeId,
        failure: pacedRetry,
      },
      body,
    );

  /** A change of the cluster: a failure that was waited out is final, a task that the manager reports as failed is not. */
  const change = <A>(target: ClusterTarget, body: () => Promise<A>) =>
    runActivity(
      {
        context: contextOf(target),
        upgradeId: target.upgradeId,
        failure: (error) => ({ retryable: error instanceof DriverError && retryableChanges.has(error.code) }),
      },
      body,
    );

  const shortRetryPolicy = () => activityRetryPolicy(shortBounds(limits));

  return {
    checkBundle: (input) => checkBundle(dependencies.readBundle, input),
    runClusterPrechecks: (target) =>
      isBaseline(target)
        ? runBaselinePrechecks({ clientOf: managementOf, lifecycleOf, patchFor, limits }, target)
        : runImagePrechecks({ clientOf: lifecycleOf, maintenanceOf, limits }, target),
    readClusterHosts: (target) =>
      read(target, () =>
        isBaseline(target)
          ? readBaselineHosts(management(target), shortRetryPolicy(), target)
          : readClusterHosts(interfaces(target), shortRetryPolicy(), target),
      ),
    readRemediationPolicy: (target) =>
      read(target, async () =>
        isBaseline(target)
          ? { previous: await readClusterSettings(management(target), shortRetryPolicy(), target) }
          : readPolicy(interfaces(target), shortRetryPolicy(), target),
      ),
    putRemediationPolicy: (input) =>
      change(input, () =>
        isBaseline(input)
          ? switchOffClusterSettings(management(input), activityRetryPolicy(limits), input)
          : putPolicy(interfaces(input), activityRetryPolicy(limits), input),
      ),
    restoreRemediationPolicy: (input) =>
      runActivity(
        {
          context: contextOf(input),
          upgradeId: input.upgradeId,
          failure: (error) => restoreRetry(limits, error),
        },
        () =>
          isBaseline(input)
            ? restoreClusterSettings(management(input), shortRetryPolicy(), input)
            : restorePolicy(interfaces(input), shortRetryPolicy(), input),
      ),
    setDesiredImage: (target) =>
      change(target, async () => {
        if (!isBaseline(target)) return setDesiredImage(lifecycle(target), activityRetryPolicy(limits), target);
        patch(target);
        return { changed: false };
      }),
    readHostBefore: (input) => read(input, () => readHostBefore(management(input), shortRetryPolicy(), input)),
    readRunningVms: (input) => read(input, () => readRunningVms(management(input), shortRetryPolicy(), input)),
    remediateHosts: (input) =>
      remediateHosts(limits, input, {
        lookAtHealth: () => lookAtHealth(gate, input),
        attempt: (context) =>
          isBaseline(input)
            ? remediateBaselineHost(context, { client: management(input), patch: patch(input) })
            : remediateImageHosts(context, interfaces(input)),
      }),
    awaitClusterHealth: (input) => awaitClusterHealth(gate, input),
    readLockHolder: ({ workflowId }) => runActivity({ context: { workflowId } }, () => readLockHolder(workflowId)),
    readLockHolders: ({ workflowIds }) =>
      runActivity({ context: {} }, async () => {
        const limit = pLimit(concurrentLockReads);
        const holders = await Promise.all(
          workflowIds.map((workflowId) => limit(async () => ({ workflowId, ...(await readLockHolder(workflowId)) }))),
        );
        return holders.flatMap(({ workflowId, upgradeId }) =>
          upgradeId === undefined ? [] : [{ workflowId, upgradeId }],
        );
      }),
    ...createNetvirtActivities(dependencies),
    ...createMgmtActivities(dependencies),
    ...createNotificationActivities(dependencies.notifications),
  };
}

/** Whether a cluster is managed by baselines: the component manager has single steps only, and the sequence is ours. */
function isBaseline({ kind }: ClusterTarget): boolean {
  return kind === "BASELINE";
}

/** Failures of a change that the component manager reports, so that they use up an attempt and the next may succeed. */
const retryableChanges: ReadonlySet<string> = new Set(["DESIRED_IMAGE_COMMIT_FAILED", "CLUSTER_SETTINGS_NOT_CHANGED"]);
