import { compareToTarget, isAtVersion, versionText } from "../../src/domain/version";
import type { ActivityDependencies } from "../activity-dependencies";
import type { ActivityLimits } from "../activity-limits";
import { followHostTask } from "../clusters/baseline/follow-host-task";
import { patchSource } from "../clusters/baseline/patch-source";
import { readAlarms } from "../clusters/baseline/read-alarms";
import type { PrecheckOptions, ResourcePrechecks, ClusterTarget } from "../contract";
import { reasonsOfFault } from "../drivers/vim25/soap";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import { endedByOutage, hasEnded } from "../drivers/vim25/vim25-models";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { RetryPolicy } from "../retry-policy";
import { UncertainChanges } from "../uncertain-changes";
import { clusterAdvice, type ClusterAdviceInput } from "./cluster-advice";
import {
  hostsConnected,
  kindChanged,
  listHosts,
  listHostsInScope,
  newerThanTarget,
  noHostInMaintenanceMode,
  noOperationInProgress,
} from "./host-prechecks";
import { runClusterPrechecks } from "./image-prechecks";
import { findingsOf, healthFindings, type Precheck } from "./run-checks";

/** What checks of baseline-managed clusters work with. */
export interface BaselinePrecheckInput extends ClusterAdviceInput {
  readonly client: Vim25Client;
  /** The lifecycle manager of the same component manager. */
  readonly lifecycle: VlcmClient;
  readonly patchFor: ActivityDependencies["patchFor"];
}

/** One condition that must hold before a baseline-managed cluster is touched. */
type BaselinePrecheck = Precheck<BaselinePrecheckInput>;

/** The cluster is still managed by baselines, as it was when the upgrade was planned. */
const clusterBaselineManaged: BaselinePrecheck = {
  type: "CLUSTER_BASELINE_MANAGED",
  name: "Cluster managed by baselines",
  description: "The cluster is managed by baselines, as it was when the upgrade was planned.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, lifecycle, retryPolicy } = input;
    if (!(await retryPolicy.retry(() => lifecycle.isImageManaged(target.cluster.cluster)))) return [];
    return kindChanged(input, "an image");
  },
};

/** Running virtual machines can leave each host, or are switched off; and no host is sent to sleep meanwhile. */
const hostsCanBeEmptied: BaselinePrecheck = {
  type: "HOSTS_CAN_BE_EMPTIED",
  name: "Hosts can be emptied",
  description:
    "Virtual machines are powered off by the upgrade or moved automatically, and power management does not interfere.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { cluster, name } = target.cluster;
    const { preRemediationPowerAction, disableDpm } = target.options ?? {};
    const { settings } = await retryPolicy.retry(() => client.readCluster(cluster));
    const isOff = preRemediationPowerAction === "POWER_OFF_VMS" || preRemediationPowerAction === "SUSPEND_VMS";
    // Full automation is the product's default where it tells none.
    const moves = settings.drs?.enabled === true && ["", "fullyAutomated"].includes(settings.drs.automation);
    const vms = isOff ? [] : await retryPolicy.retry(() => client.listVms(cluster));
    const running = vms.filter(({ power }) => power === "poweredOn").length;
    const hosts = running > 0 ? await listHosts(input) : [];
    return findingsOf(input, [
      ...(running > 0 && (!moves || hosts.length < 2)
        ? [
            {
              code: "HOSTS_CANNOT_BE_EMPTIED",
              message: `Cluster ${name} has ${running} running virtual machines, and ${hosts.length < 2 ? "no other host for them" : "DRS does not move them automatically"}.`,
              remediation:
                "Set DRS of the cluster to fully automated, or have the upgrade power off or suspend virtual machines (preRemediationPowerAction).",
            },
          ]
        : []),
      ...(settings.dpm === true && disableDpm !== true
        ? [
            {
              code: "DPM_ENABLED",
              message: `Distributed power management of cluster ${name} is on and may send hosts to sleep.`,
              remediation: "Set disableDpm for this cluster, or switch power management off, then try again.",
            },
          ]
        : []),
    ]);
  },
};

/** Every host of the cluster can be worked on. */
const baselineHostsConnected = hostsConnected<BaselinePrecheckInput>(async (input) =>
  (await listHostsInScope(input)).map(({ host, name, connection, power }) => ({
    host,
    name,
    isUsable: connection === "connected" && power === "poweredOn",
    state: `${connection} and ${power}`,
  })),
);

/** Nobody has a host in maintenance mode. */
const noBaselineHostInMaintenanceMode = noHostInMaintenanceMode<BaselinePrecheckInput>(async (input) =>
  (await listHostsInScope(input)).filter(({ inMaintenanceMode }) => inMaintenanceMode),
);

/** Nobody else works on the hosts; checks of patches are ours and harm nothing. */
const noHostTask = noOperationInProgress<BaselinePrecheckInput>(
  "No other operation runs on a host of the cluster.",
  async (input) =>
    (await listHostsInScope(input)).flatMap(({ host, name, tasks }) =>
      tasks
        .filter((task) => !hasEnded(task) && !/\.check(hostpatch)?$/i.test(task.descriptionId))
        .map(({ key, descriptionId, state }) => ({
          message: `Task ${key} (${descriptionId}) is ${state} on host ${name}.`,
          context: { task: key },
          host: { id: host, name },
          subject: key,
        })),
    ),
);

/** The component manager itself finds nothing wrong with the cluster and its hosts. */
const hostsHealthy: BaselinePrecheck = {
  type: "CLUSTER_HEALTH",
  name: "Health",
  description: "The component manager shows no alarm for the cluster and its hosts.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const alarms = await readAlarms(client, retryPolicy, target);
    return findingsOf(
      input,
      alarms.map(({ title, status, host }) => ({
        ...healthFindings[status === "red" ? "ERROR" : "WARNING"],
        message: `${title} has the status ${status}.`,
        remediation: `Resolve the alarms of ${title} in the component manager, then run the prechecks again.`,
        ...(host && { host }),
      })),
    );
  },
};

/** The component manager's management interface answers and accepts our credentials. */
const managementReachable: BaselinePrecheck = {
  type: "COMPONENT_MANAGER_REACHABLE",
  name: "Component manager reachable",
  description: "The component manager's management interface answers and accepts the service's credentials.",
  needs: [],
  run: async ({ client, retryPolicy }) => {
    await retryPolicy.retry(() => client.readTime());
    return [];
  },
};

/** No host is newer than the target: a patch cannot take a host back. */
const noHostDowngrade: BaselinePrecheck = {
  type: "NO_DOWNGRADE",
  name: "No downgrade",
  description: "No host of the cluster has a newer version than the target.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target } = input;
    const hosts = await listHostsInScope(input);
    input.versionsRead?.(hosts.map(({ product }) => versionText(product)));
    return findingsOf(
      input,
      hosts.flatMap(({ host, name, product }) => {
        if (!product || compareToTarget(product, target.targetVersion) <= 0) return [];
        return [newerThanTarget({ host, name }, versionText(product), target.targetVersion)];
      }),
    );
  },
};

/** The inventory says where the target comes from, and a host that needs it finds it there and can use it. */
const targetPatchAvailable: BaselinePrecheck = {
  type: "TARGET_PATCH_AVAILABLE",
  name: "Target patch available",
  description: "The patch of the target is known, and the first host that needs it can use it.",
  needs: ["CLUSTER_BASELINE_MANAGED"],
  run: async (input) => {
    const { target, client, retryPolicy, patchFor } = input;
    const patch = patchSource(patchFor, target);
    const hosts = await listHostsInScope(input);
    // All hosts read from the same place; each judging it would take long and tell no more.
    const host = hosts.find(
      ({ connection, product }) => connection === "connected" && !isAtVersion(product, target.targetVersion),
    );
    if (!host) return [];
    const uncertain = new UncertainChanges<"outage">(retryPolicy.clock);
    const check = async () => {
      const task = await retryPolicy.retry(() => client.checkPatch(host.host, patch));
      return followHostTask({ client, retryPolicy, task, stall: retryPolicy.bounds.operationBusy });
    };
    let followed = await check();
    for (let round = 0; followed.end === "ENDED" && endedByOutage(followed.task); round++) {
      if (uncertain.hasLasted("outage", retryPolicy.bounds.outage)) break;
      await retryPolicy.pause(round);
      followed = await check();
    }
    // Forgotten: the installation will judge it.
    if (followed.end === "FORGOTTEN") return [];
    const reasons =
      followed.end === "STALLED"
        ? [`Task ${followed.task.key} makes no progress.`]
        : followed.task.error
          ? reasonsOfFault(followed.task.error)
          : [];
    if (followed.end === "ENDED" && !followed.task.error) return [];
    return findingsOf(input, [
      {
        code: "PATCH_NOT_USABLE",
        message: `Host ${host.name} cannot use the patch of ${target.targetVersion} from ${patch.metadataUrls.join(", ")}${reasons[0] ? `: ${reasons[0]}` : "."}`,
        remediation:
          "Correct the depot's URLs in the inventory or resolve what the host reports, then run the prechecks again.",
        host: { id: host.host, name: host.name },
      },
    ]);
  },
};

/** All checks of a baseline-managed cluster, in an order in which every one comes after those that it needs. */
const prechecks: readonly BaselinePrecheck[] = [
  managementReachable,
  clusterBaselineManaged,
  baselineHostsConnected,
  noBaselineHostInMaintenanceMode,
  noHostTask,
  targetPatchAvailable,
  noHostDowngrade,
  hostsCanBeEmptied,
  hostsHealthy,
  ...clusterAdvice<BaselinePrecheckInput>(),
];

interface BaselinePrecheckDependencies {
  clientOf(componentManagerId: string): Vim25Client;
  lifecycleOf(componentManagerId: string): VlcmClient;
  readonly patchFor: ActivityDependencies["patchFor"];
  readonly limits: ActivityLimits;
}

/** Runs every check of a baseline-managed cluster. */
export function runBaselinePrechecks(
  { clientOf, lifecycleOf, patchFor, limits }: BaselinePrecheckDependencies,
  target: ClusterTarget & PrecheckOptions,
): Promise<ResourcePrechecks> {
  const { componentManagerId } = target.cluster;
  const input = (retryPolicy: RetryPolicy) => ({
    target,
    client: clientOf(componentManagerId),
    management: clientOf(componentManagerId),
    hostsAtOnce: target.hostsAtOnce,
    lifecycle: lifecycleOf(componentManagerId),
    patchFor,
    retryPolicy,
  });
  return runClusterPrechecks(prechecks, { target, limits, input });
}
