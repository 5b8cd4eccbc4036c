import type { ActivityDependencies } from "./activity-dependencies";
import { activityPatience, runActivity, shortBounds } from "./activity-run";
import { clientCache } from "./client-cache";
import type { ClusterTarget, UpgradeActivities } from "./contract";
import { DriverError } from "./drivers/driver-error";
import { createVlcmClient, type VlcmClient } from "./drivers/vlcm/vlcm-client";
import { readClusterHosts } from "./hostos/read-cluster-hosts";
import { remediateHost } from "./hostos/remediate-host";
import { remediationPolicy } from "./hostos/remediation-policy";
import { setDesiredImage } from "./hostos/set-desired-image";
import { createMgmtActivities } from "./mgmt/create-mgmt-activities";
import { runClusterPrechecks } from "./prechecks/run-cluster-prechecks";

/**
 * The Activities of a Worker. Changes wait out an outage themselves, because a retry by Temporal would use up an
 * attempt; reads and restores are short and retried by Temporal.
 */
export function createActivities(dependencies: ActivityDependencies): UpgradeActivities {
  const { componentManager, readLockHolder, limits } = dependencies;
  const vlcmClients = clientCache(componentManager, (access) =>
    createVlcmClient(access, { callTimeout: limits.callTimeout }),
  );
  const clientOf = (id: string): VlcmClient => vlcmClients(id, undefined).client;

  const contextOf = ({ cluster }: ClusterTarget) => ({
    cluster: cluster.name,
    componentManager: cluster.componentManagerId,
  });

  /** A short read or restore. */
  const read = <A>(target: ClusterTarget, body: (client: VlcmClient) => Promise<A>) =>
    runActivity({ context: contextOf(target) }, () => body(clientOf(target.cluster.componentManagerId)));

  /** A change of the cluster: a failure that was waited out is final, a task that the manager reports as failed is not. */
  const change = <A>(target: ClusterTarget, body: (client: VlcmClient) => Promise<A>) =>
    runActivity(
      {
        context: contextOf(target),
        failure: (error) => ({
          retryable: error instanceof DriverError && error.code === "DESIRED_IMAGE_COMMIT_FAILED",
        }),
      },
      () => body(clientOf(target.cluster.componentManagerId)),
    );

  const shortPatience = () => activityPatience(shortBounds(limits));

  return {
    runClusterPrechecks: (target) => runClusterPrechecks({ clientOf, limits }, target),
    readClusterHosts: (target) => read(target, (client) => readClusterHosts(client, shortPatience(), target)),
    readRemediationPolicy: (target) =>
      read(target, (client) => shortPatience().persist(() => client.readPolicy(target.cluster.cluster))),
    putRemediationPolicy: (input) =>
      change(input, (client) => {
        const policy = remediationPolicy(input.previous, input.options);
        return activityPatience(limits).persist(() => client.putPolicy(input.cluster.cluster, policy));
      }),
    restoreRemediationPolicy: (input) =>
      runActivity(
        {
          context: contextOf(input),
          // Giving up leaves a changed cluster behind, and what refuses us (a password, a full disk) can be put right.
          failure: (error) => ({ retryable: !(error instanceof DriverError && error.code === "RESOURCE_NOT_FOUND") }),
        },
        () =>
          shortPatience().persist(() =>
            clientOf(input.cluster.componentManagerId).putPolicy(input.cluster.cluster, input.previous),
          ),
      ),
    setDesiredImage: (target) => change(target, (client) => setDesiredImage(client, activityPatience(limits), target)),
    remediateHost: (input) => remediateHost({ clientOf, limits }, input),
    readLockHolder: ({ workflowId }) =>
      runActivity({ context: { workflowId } }, async () => {
        const upgradeId = await readLockHolder(workflowId);
        return upgradeId === undefined ? {} : { upgradeId };
      }),
    ...createMgmtActivities(dependencies),
  };
}
