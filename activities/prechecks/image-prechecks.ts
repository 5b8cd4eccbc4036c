import type { Stage } from "../../src/domain/spec/task";
import { compareNumberByNumber, compareVersions } from "../../src/domain/version";
import type { ActivityLimits } from "../activity-limits";
import { isOutage, pacedRetry, precheckRetryPolicy, runActivity } from "../activity-run";
import type { HostMaintenance } from "../clusters/host-maintenance";
import { assessHost, readFullCompliance } from "../clusters/image/assess-hosts";
import { discardDraft, withExclusiveDraft } from "../clusters/image/desired-image";
import { isDesired } from "../clusters/image/target-image";
import { completeTask, reasonsOf } from "../complete-task";
import type { PrecheckOptions, ResourcePrechecks, ClusterTarget } from "../contract";
import { isNotFound } from "../drivers/driver-error";
import { checkFindings, checkSubject } from "../drivers/vlcm/check-findings";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { HostCompliance, TaskInfo } from "../drivers/vlcm/vlcm-models";
import type { RetryPolicy } from "../retry-policy";
import { clusterAdvice } from "./cluster-advice";
import {
  hostsConnected,
  kindChanged,
  listHosts,
  listHostsInScope,
  newerThanTarget,
  noHostInMaintenanceMode,
  noOperationInProgress,
} from "./host-prechecks";
import {
  type AnyPrecheckInput,
  findingsOf,
  healthFindings,
  type Precheck,
  type PrecheckInput,
  runChecks,
  VersionsRead,
} from "./run-checks";

/** How often the check is begun again where the component manager, as after its restart, has forgotten its task. */
const maximumChecks = 5;

/** The component manager's health check of the cluster and its hosts finds no error. Its warnings are told. */
const clusterHealth: Precheck = {
  type: "CLUSTER_HEALTH",
  name: "Cluster health",
  description: "The component manager's health check of the cluster and its hosts finds no error.",
  needs: ["CLUSTER_IMAGE_MANAGED", "NO_OPERATION_IN_PROGRESS"],
  run: async (input) => {
    const { name } = input.target.cluster;
    const task = await checked(input);
    const found = task && checkFindings(task, input.target.scope);
    if (!found) {
      const reason = task ? reasonsOf(task)[0] : "the component manager no longer has it";
      return findingsOf(input, [
        {
          code: "HEALTH_CHECK_FAILED",
          message: `The health check of ${name} gave no result${reason ? `: ${reason}` : "."}`,
          remediation: "Run the check of the cluster in the component manager, then run the prechecks again.",
        },
      ]);
    }
    const hosts = await listHosts(input);
    return findingsOf(
      input,
      found.map((one) => {
        const { severity, host, check, issue } = one;
        const about = host === undefined ? name : (hosts.find((listed) => listed.host === host)?.name ?? host);
        return {
          ...healthFindings[severity],
          message: `${about}: ${check}: ${issue}`,
          remediation: `Resolve what the check "${check}" reports for ${about}, then run the prechecks again.`,
          context: { check },
          ...(host !== undefined && { host: { id: host, name: about } }),
          subject: checkSubject(one),
        };
      }),
    );
  },
};

/** The ended task of a health check; undefined where the component manager forgets each of them. */
async function checked({ target, client, retryPolicy }: PrecheckInput): Promise<TaskInfo | undefined> {
  const { cluster } = target.cluster;
  for (let round = 0; ; round++) {
    const task = await completeTask(client, retryPolicy, await retryPolicy.retry(() => client.check(cluster)));
    if (task || round === maximumChecks) return task;
    await retryPolicy.pause(round);
  }
}

/** The cluster is managed in the way for which the upgrade was planned. */
const clusterImageManaged: Precheck = {
  type: "CLUSTER_IMAGE_MANAGED",
  name: "Cluster managed as planned",
  description: "The cluster is managed by an image or by baselines, as it was when the upgrade was planned.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const imageManaged = await retryPolicy.retry(() => client.isImageManaged(target.cluster.cluster));
    if (imageManaged === (target.kind === "IMAGE")) return [];
    return kindChanged(input, imageManaged ? "an image" : "baselines");
  },
};

/** The component manager answers and accepts our credentials. */
const componentManagerReachable: Precheck = {
  type: "COMPONENT_MANAGER_REACHABLE",
  name: "Component manager reachable",
  description: "The component manager answers and accepts the service's credentials.",
  needs: [],
  run: async ({ client, retryPolicy }) => {
    await retryPolicy.retry(() => client.readUser());
    return [];
  },
};

/** Operations that only look; a run of these checks that was cut short leaves some behind. */
const harmless = /(^|[.:])(scan|check|validate|export)(\$task)?$/;

/** Nobody else's lifecycle operation runs on the cluster. */
const noOtherOperation = noOperationInProgress<PrecheckInput>(
  "No other lifecycle operation runs on the cluster.",
  async ({ target, client, retryPolicy }) => {
    const tasks = await retryPolicy.retry(() => client.listUnfinishedTasks(target.cluster.cluster));
    return [...tasks]
      .filter(([, { operation }]) => !harmless.test(operation))
      .map(([id, task]) => ({
        message: `Task ${id} (${task.description?.default_message ?? task.operation}) is ${task.status} on ${target.cluster.name}.`,
        context: { task: id },
        subject: id,
      }));
  },
);

const maximumDrafts = 3;

/** The component manager has the target image and finds it valid for the cluster. */
const targetImageAvailable: Precheck = {
  type: "TARGET_IMAGE_AVAILABLE",
  name: "Target image available",
  description: "The component manager has the target image and finds it valid for this cluster.",
  needs: ["CLUSTER_IMAGE_MANAGED"],
  run: async ({ target, client, retryPolicy }) => {
    const { cluster } = target.cluster;
    if (isDesired(await retryPolicy.retry(() => client.readDesiredImage(cluster)), target)) return [];
    for (let round = 0; ; round++) {
      try {
        const discard = (draft: string) => discardDraft(client, retryPolicy, cluster, draft);
        await withExclusiveDraft(client, retryPolicy, cluster, target, discard);
        return [];
      } catch (error) {
        // Another worker, with the prechecks of another upgrade of this cluster, may have replaced our draft by theirs.
        if (!isNotFound(error) || round === maximumDrafts) throw error;
      }
      await retryPolicy.pause(round);
    }
  },
};

/** No host is newer than the target: the component manager cannot take a host back. */
const noDowngrade: Precheck = {
  type: "NO_DOWNGRADE",
  name: "No downgrade",
  description: "No host of the cluster has a newer version than the target.",
  needs: ["CLUSTER_IMAGE_MANAGED"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { cluster } = target.cluster;
    const hosts = await listHostsInScope(input);
    const ids = hosts.map(({ host }) => host);
    const compliance = await readFullCompliance(client, retryPolicy, cluster, ids);
    input.versionsRead?.(ids.map((host) => assessHost(compliance, host, target).version));
    return findingsOf(
      input,
      hosts.flatMap(({ host, name }) => {
        const { version } = assessHost(compliance, host, target);
        const newer = newerComponent(compliance?.hosts[host], target);
        if (newer) return [{ ...newerPart(name, newer), context: { ...newer }, host: { id: host, name } }];
        if (version === "" || compareVersions(version, target.targetVersion) <= 0) return [];
        return [newerThanTarget({ host, name }, version, target.targetVersion)];
      }),
    );
  },
};

interface NewerComponent {
  readonly component: string;
  readonly version: string;
  readonly target: string;
}

/** A component that the host has in a newer version than the target image names. */
function newerComponent(found: HostCompliance | undefined, { image }: ClusterTarget): NewerComponent | undefined {
  const wanted = Object.entries(image?.components ?? {});
  return wanted.flatMap(([component, target]) => {
    const version = found?.components?.[component]?.current?.version;
    return version !== undefined && compareNumberByNumber(version, target) > 0 ? [{ component, version, target }] : [];
  })[0];
}

function newerPart(host: string, { component, version, target }: NewerComponent) {
  return {
    code: "HOST_NEWER_THAN_TARGET",
    message: `Host ${host} has ${component} ${version}, which is newer than ${target}.`,
    remediation: `Choose a personality with ${component} ${version} or newer, or without it.`,
  };
}

/** Every host of the cluster can be worked on. */
const imageHostsConnected = hostsConnected<PrecheckInput>(async (input) =>
  (await listHostsInScope(input)).map(({ host, name, connection_state, power_state }) => ({
    host,
    name,
    isUsable: connection_state === "CONNECTED" && power_state === "POWERED_ON",
    state: `${connection_state} and ${power_state ?? "its power state is not known"}`,
  })),
);

/** Nobody has a host in maintenance mode. */
const noImageHostInMaintenanceMode = noHostInMaintenanceMode<PrecheckInput>(async (input) => {
  const hosts = await listHostsInScope(input);
  const inside = await input.maintenance.inMaintenance(input.target.cluster.cluster, input.retryPolicy);
  return hosts.filter(({ host }) => inside.has(host));
});

/** All checks of an image-managed cluster, in an order in which every one comes after those that it needs. */
const prechecks: readonly Precheck[] = [
  componentManagerReachable,
  clusterImageManaged,
  imageHostsConnected,
  noImageHostInMaintenanceMode,
  noOtherOperation,
  targetImageAvailable,
  noDowngrade,
  clusterHealth,
  ...clusterAdvice<PrecheckInput>(),
];

interface PrecheckDependencies {
  clientOf(componentManagerId: string): VlcmClient;
  maintenanceOf(componentManagerId: string): HostMaintenance;
  managementOf(componentManagerId: string): Vim25Client;
  readonly limits: ActivityLimits;
}

/** Runs every check of an image-managed cluster. */
export function runImagePrechecks(
  { clientOf, maintenanceOf, managementOf, limits }: PrecheckDependencies,
  target: ClusterTarget & PrecheckOptions,
): Promise<ResourcePrechecks> {
  const { componentManagerId } = target.cluster;
  const input = (retryPolicy: RetryPolicy) => ({
    target,
    client: clientOf(componentManagerId),
    maintenance: maintenanceOf(componentManagerId),
    management: managementOf(componentManagerId),
    hostsAtOnce: target.hostsAtOnce,
    retryPolicy,
  });
  return runClusterPrechecks(prechecks, { target, limits, input });
}

/**
 * Runs every check of a cluster, whatever the others find, and gives one Stage each. A check that throws is a failed
 * one; only the Activity's own end (cancelled, Worker stopped, component manager not in the inventory) throws.
 */
export function runClusterPrechecks<I extends AnyPrecheckInput>(
  checks: readonly Precheck<I>[],
  {
    target,
    limits,
    input: inputOf,
  }: {
    readonly target: ClusterTarget & PrecheckOptions;
    readonly limits: ActivityLimits;
    input(retryPolicy: RetryPolicy): I;
  },
): Promise<ResourcePrechecks> {
  const context = { cluster: target.cluster.name, componentManager: target.cluster.componentManagerId };
  const stages: Stage[] = [];
  const versions = new VersionsRead();
  return runActivity({ context, heartbeat: () => ({ stages: [...stages] }), failure: pacedRetry }, async (beat) => {
    const retryPolicy = precheckRetryPolicy(limits, target);
    const input = { ...inputOf(retryPolicy), versionsRead: versions.add };
    const onStage = (stage: Stage) => {
      stages.push(stage);
      beat();
    };
    await runChecks({
      checks,
      input,
      context,
      resourceId: target.cluster.resourceId,
      acknowledged: target.acknowledged,
      onStage,
      isOutage: (error) => isOutage(retryPolicy, limits, error),
    });
    return { stages, ...versions.result };
  });
}
