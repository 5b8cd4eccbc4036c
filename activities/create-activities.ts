import { some } from "fp-ts/Option";
import pLimit from "p-limit";
import { bundleObstacle } from "../src/domain/admission/bundle-rules";
import type { ActivityDependencies } from "./activity-dependencies";
import {
  activityRetryPolicy,
  endingRetryPolicy,
  pacedRetry,
  restoreRetry,
  runActivity,
  shortBounds,
} from "./activity-run";
import { askCheck } from "./checks/ask-check";
import {
  readClusterSettings,
  restoreClusterSettings,
  switchOffClusterSettings,
} from "./clusters/baseline/cluster-settings";
import { patchSource } from "./clusters/baseline/patch-source";
import { readBaselineHosts, readHostBefore } from "./clusters/baseline/read-baseline-hosts";
import { remediateBaselineHost } from "./clusters/baseline/remediate-baseline-host";
import { vim25HostMaintenance } from "./clusters/baseline/vim25-host-maintenance";
import { awaitClusterHealth, lookAtHealth } from "./clusters/health-gate";
import { setDesiredImage } from "./clusters/image/desired-image";
import { putPolicy, readPolicy, restorePolicy } from "./clusters/image/image-policy";
import { remediateImageHosts } from "./clusters/image/remediate-image-hosts";
import { readClusterHosts, readRunningVms } from "./clusters/read-hosts";
import { remediateHosts } from "./clusters/remediate-hosts";
import { restoreHosts } from "./clusters/restore-hosts";
import type { BundleCheck, ClusterTarget, UpgradeActivities } from "./contract";
import { unobserved } from "./drivers/call-observation";
import { DriverError } from "./drivers/driver-error";
import { createVim25Client } from "./drivers/vim25/vim25-client";
import { createVlcmClient } from "./drivers/vlcm/vlcm-client";
import { beginUnder, findHeldHosts, lookAtClosure } from "./closure-check";
import { managerClients } from "./manager-clients";
import { createMgmtActivities } from "./mgmt/create-mgmt-activities";
import { createNetvirtActivities } from "./netvirt/create-netvirt-activities";
import { createNotificationActivities } from "./notifications/create-notification-activities";
import { runBaselinePrechecks } from "./prechecks/baseline-prechecks";
import { runImagePrechecks } from "./prechecks/image-prechecks";

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

  const { readHolds } = dependencies;
  const gate = { clientOf: lifecycleOf, managementOf, maintenanceOf, readHolds, limits };

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
    runClusterPrechecks: async (asked) => {
      const target = await withoutHeldHosts(dependencies, asked);
      return isBaseline(target)
        ? runBaselinePrechecks({ clientOf: managementOf, lifecycleOf, patchFor, limits }, target)
        : runImagePrechecks({ clientOf: lifecycleOf, maintenanceOf, managementOf, limits }, target);
    },
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
        beginUnder(
          dependencies,
          input.places,
        )(() =>
          isBaseline(input)
            ? switchOffClusterSettings(management(input), activityRetryPolicy(limits), input)
            : putPolicy(interfaces(input), activityRetryPolicy(limits), input),
        ),
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
        begin: beginUnder(dependencies, input.places),
        findHeld: (hosts) => findHeldHosts(dependencies, { cluster: input.cluster.resourceId, hosts }),
        lookAtHealth: () => lookAtHealth(gate, input),
        attempt: (context) =>
          isBaseline(input)
            ? remediateBaselineHost(context, { client: management(input), patch: patch(input) })
            : remediateImageHosts(context, interfaces(input)),
      }),
    restoreHosts: (input) =>
      runActivity({ context: contextOf(input), upgradeId: input.upgradeId }, () =>
        restoreHosts(
          { ...interfaces(input), client: isBaseline(input) ? undefined : lifecycle(input) },
          endingRetryPolicy(limits),
          input,
        ),
      ),
    awaitClusterHealth: (input) => awaitClusterHealth(gate, input),
    lookAtClosure: (look) => lookAtClosure(dependencies, look),
    askCheck: (input) => askCheck((id) => dependencies.findCheck?.(id), input),
    readLockHolder: ({ workflowId }) => runActivity({ context: { workflowId } }, () => readLockHolder(workflowId)),
    readLockHolders: ({ workflowIds }) =>
      runActivity({ context: {} }, async () => {
        const limit = pLimit(concurrentLockReads);
        const holders = await Promise.all(
          workflowIds.map((workflowId) => limit(async () => ({ workflowId, ...(await readLockHolder(workflowId)) }))),
        );
        return holders.flatMap(({ upgradeId, state = "HELD", ...lock }) =>
          upgradeId === undefined ? [] : [{ ...lock, upgradeId, state }],
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

/** The target without the hosts that are held now, which the upgrade leaves out. Where that cannot be read, with all of them. */
async function withoutHeldHosts<T extends ClusterTarget>(
  { listHolds }: Pick<ActivityDependencies, "listHolds">,
  target: T,
): Promise<T> {
  const holds = await Promise.resolve(listHolds?.()).catch(() => undefined);
  const held = new Set(
    holds?.flatMap(({ clusterId, hostId }) => (clusterId === target.cluster.resourceId ? (hostId ?? []) : [])),
  );
  if (held.size === 0) return target;
  const { include, exclude = [] } = target.scope ?? {};
  const scope = include ? { include: include.filter((host) => !held.has(host)) } : { exclude: [...exclude, ...held] };
  return { ...target, scope };
}

/** Failures of a change that the component manager reports, so that they use up an attempt and the next may succeed. */
const retryableChanges: ReadonlySet<string> = new Set(["DESIRED_IMAGE_COMMIT_FAILED", "CLUSTER_SETTINGS_NOT_CHANGED"]);

/**
 * Whether the bundle of an upgrade may still be installed, by the catalog as it is at this moment. One that has left the
 * catalog may: its upgrade was accepted with all that it needs, and a worker elsewhere may have another catalog.
 */
export function checkBundle(
  readBundle: ActivityDependencies["readBundle"],
  { bundleId, upgradeId }: { readonly bundleId: string; readonly upgradeId: string },
): Promise<BundleCheck> {
  return runActivity({ context: { bundleId }, upgradeId }, () => {
    const bundle = readBundle?.(bundleId);
    const obstacle = bundle && bundleObstacle(bundleId, some(bundle));
    if (!obstacle) return Promise.resolve({});
    const { code, message, remediation } = obstacle;
    const context = { bundleId };
    const told = { errorCode: code, message, remediationMessage: remediation, context };
    return Promise.resolve({ error: { ...told, errorType: "FAILED_DEPENDENCY" } });
  });
}
