import pLimit from "p-limit";
import type { ClusterKind } from "../src/domain/upgrade-plan";
import type { ActivityDependencies } from "./activity-dependencies";
import { activityPatience, runActivity, shortBounds } from "./activity-run";
import { baselineClusters } from "./baseline/baseline-clusters";
import { vim25HostMaintenance } from "./baseline/vim25-host-maintenance";
import type { ClusterWork } from "./cluster-work";
import type { ClusterTarget, UpgradeActivities } from "./contract";
import { unobserved } from "./drivers/call-observation";
import { DriverError } from "./drivers/driver-error";
import { createVim25Client } from "./drivers/vim25/vim25-client";
import { createVlcmClient } from "./drivers/vlcm/vlcm-client";
import { awaitClusterHealth } from "./hostos/await-cluster-health";
import { checkClusterHealth } from "./hostos/check-cluster-health";
import { imageClusters } from "./hostos/image-clusters";
import { preparedImageClusters } from "./hostos/prepared-image-clusters";
import { readRunningVms } from "./hostos/read-running-vms";
import { remediateHosts } from "./hostos/remediate-hosts";
import { managerClients } from "./manager-clients";
import { createMgmtActivities } from "./mgmt/create-mgmt-activities";
import { createNetvirtActivities } from "./netvirt/create-netvirt-activities";
import { createNotificationActivities } from "./notifications/create-notification-activities";

/** How many locks are looked at together. */
const concurrentLockReads = 8;

/**
 * The Activities of a Worker. Changes wait out an outage themselves, because a retry by Temporal would use up an
 * attempt; reads and restores are short and retried by Temporal.
 */
export function createActivities(dependencies: ActivityDependencies): UpgradeActivities {
  const { componentManager, patchFor, readLockHolder, limits, observe = unobserved } = dependencies;
  const { callTimeout } = limits;
  const lifecycleOf = managerClients(componentManager, (access) => createVlcmClient(access, { callTimeout, observe }));
  const managementOf = managerClients(componentManager, (access) =>
    createVim25Client(access, { callTimeout, observe }),
  );
  const image = imageClusters({ clientOf: lifecycleOf, limits });
  const prepared = preparedImageClusters({ image, managementOf });
  const kinds: Readonly<Record<ClusterKind, ClusterWork>> = {
    IMAGE: image,
    BASELINE: baselineClusters({ clientOf: managementOf, lifecycleOf, patchFor, limits }),
  };
  const workOn = ({ kind, ownOptions }: ClusterTarget) => (ownOptions ? prepared : kinds[kind]);

  const maintenanceOf =
    dependencies.hostMaintenance ?? ((id: string) => vim25HostMaintenance({ client: managementOf(id), limits }));

  const gate = { clientOf: lifecycleOf, managementOf, maintenanceOf, limits };

  const contextOf = ({ cluster }: ClusterTarget) => ({
    cluster: cluster.name,
    componentManager: cluster.componentManagerId,
  });

  /** A short read. */
  const read = <A>(target: ClusterTarget, body: () => Promise<A>) =>
    runActivity({ context: contextOf(target), upgradeId: target.upgradeId }, body);

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

  const shortPatience = () => activityPatience(shortBounds(limits));

  return {
    runClusterPrechecks: (target) => workOn(target).runPrechecks(target),
    readClusterHosts: (target) => read(target, () => workOn(target).readHosts(shortPatience(), target)),
    readRemediationPolicy: (target) => read(target, () => workOn(target).readPolicy(shortPatience(), target)),
    putRemediationPolicy: (input) => change(input, () => workOn(input).putPolicy(activityPatience(limits), input)),
    restoreRemediationPolicy: (input) =>
      runActivity(
        {
          context: contextOf(input),
          upgradeId: input.upgradeId,
          // Giving up leaves a changed cluster behind, and what refuses us (a password, a full disk) can be put right.
          failure: (error) => ({ retryable: !(error instanceof DriverError && error.code === "RESOURCE_NOT_FOUND") }),
        },
        () => workOn(input).restorePolicy(shortPatience(), input),
      ),
    setDesiredImage: (target) => change(target, () => workOn(target).setDesiredImage(activityPatience(limits), target)),
    readHostBefore: (input) => read(input, () => workOn(input).readHostBefore(shortPatience(), input)),
    readRunningVms: (input) =>
      read(input, () => readRunningVms(managementOf(input.cluster.componentManagerId), shortPatience(), input)),
    remediateHost: (input) => workOn(input).remediateHost(input),
    remediateHosts: (input) => remediateHosts(gate, input),
    awaitClusterHealth: (input) => awaitClusterHealth(gate, input),
    checkClusterHealth: (input) => checkClusterHealth(gate, input),
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

/** Failures of a change that the component manager reports, so that they use up an attempt and the next may succeed. */
const retryableChanges: ReadonlySet<string> = new Set(["DESIRED_IMAGE_COMMIT_FAILED", "CLUSTER_SETTINGS_NOT_CHANGED"]);
