import type { ActivityDependencies } from "./activity-dependencies";
import { activityPatience, runActivity, shortBounds } from "./activity-run";
import type { ClusterTarget, UpgradeActivities } from "./contract";
import type { ComponentManagerAccess } from "./drivers/component-manager-access";
import { DriverError } from "./drivers/driver-error";
import { createVlcmClient, type VlcmClient } from "./drivers/vlcm/vlcm-client";
import { readClusterHosts } from "./hostos/read-cluster-hosts";
import { remediateHost } from "./hostos/remediate-host";
import { remediationPolicy } from "./hostos/remediation-policy";
import { setDesiredImage } from "./hostos/set-desired-image";
import { runClusterPrechecks } from "./prechecks/run-cluster-prechecks";

/**
 * The Activities of a Worker. Changes wait out an outage themselves, because a retry by Temporal would use up an
 * attempt; reads and restores are short and retried by Temporal.
 */
export function createActivities({
  componentManager,
  readLockHolder,
  limits,
}: ActivityDependencies): UpgradeActivities {
  const clients = new Map<string, { readonly access: ComponentManagerAccess; readonly client: VlcmClient }>();

  /** One client, and so one session, per component manager, for as long as its access stays the same. */
  function clientOf(id: string): VlcmClient {
    const access = componentManager(id);
    if (!access) throw unknownComponentManager(id);
    const known = clients.get(id);
    if (known && isSame(known.access, access)) return known.client;
    const client = createVlcmClient(access, { callTimeout: limits.callTimeout });
    clients.set(id, { access, client });
    void known?.client.close();
    return client;
  }

  const contextOf = ({ cluster }: ClusterTarget) => ({
    cluster: cluster.name,
    componentManager: cluster.componentManagerId,
  });

  /** A short read or restore. */
  const read = <A>(target: ClusterTarget, body: (client: VlcmClient) => Promise<A>) =>
    runActivity({ context: contextOf(target), upgradeId: target.upgradeId }, () =>
      body(clientOf(target.cluster.componentManagerId)),
    );

  /** A change of the cluster: a failure that was waited out is final, a task that the manager reports as failed is not. */
  const change = <A>(target: ClusterTarget, body: (client: VlcmClient) => Promise<A>) =>
    runActivity(
      {
        context: contextOf(target),
        upgradeId: target.upgradeId,
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
          upgradeId: input.upgradeId,
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
  };
}

function isSame(a: ComponentManagerAccess, b: ComponentManagerAccess): boolean {
  return a.url === b.url && a.username === b.username && a.password === b.password;
}

function unknownComponentManager(id: string): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "COMPONENT_MANAGER_UNKNOWN",
    message: `The inventory has no component manager ${id}.`,
    remediation: "Put the component manager back into the inventory, or start a new upgrade of the cluster.",
  });
}
