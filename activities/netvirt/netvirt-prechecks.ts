import type { Stage } from "../../src/domain/spec/task";
import { netvirtComponentOrder } from "../../src/domain/task/netvirt-upgrade";
import { compareVersions } from "../../src/domain/version";
import type { ActivityLimits } from "../activity-limits";
import { isOutage, pacedRetry, precheckRetryPolicy, runActivity, timeOfRun } from "../activity-run";
import type { PrecheckOptions, NetvirtTarget, ResourcePrechecks } from "../contract";
import type { NsxClient } from "../drivers/nsx/nsx-client";
import type { UnitGroup } from "../drivers/nsx/nsx-models";
import { runChecks, VersionsRead } from "../prechecks/run-checks";
import { coordinatorChecks, netvirtFindings, type NetvirtPrecheck } from "./netvirt-precheck";
import { netvirtAdvice } from "./netvirt-advice";
import { isGroup, isIncluded, isInMaintenance, nameOf } from "./netvirt-settings";
import { isVersion, listGroups } from "./read-netvirt-upgrade";

const active: ReadonlySet<string> = new Set(["IN_PROGRESS", "PAUSING"]);

/** The coordinator knows every component that is to be upgraded, and nobody's upgrade runs. */
const componentsReady: NetvirtPrecheck = {
  type: "NETVIRT_COMPONENTS_READY",
  name: "Components ready",
  description: "The upgrade coordinator lists the components to upgrade, and no upgrade runs.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { component_status, overall_upgrade_status } = await retryPolicy.retry(() => client.readStatus());
    const running = component_status.filter(({ status }) => active.has(status));
    if (running.length > 0 || active.has(overall_upgrade_status)) {
      const what = running.map(({ component_type }) => component_type).join(", ") || "its upgrade";
      return netvirtFindings(input, [
        {
          code: "NETVIRT_UPGRADE_RUNNING",
          message: `The upgrade coordinator of ${target.netvirt.name} is busy (${what}).`,
          remediation: "Wait for that upgrade to end or pause it in the coordinator, then run the prechecks again.",
        },
      ]);
    }
    const listed = new Set(component_status.map(({ component_type }) => component_type));
    const missing = netvirtComponentOrder(target.targetVersion, target.options.edgeOnly).filter(
      (component) => !listed.has(component),
    );
    return netvirtFindings(
      input,
      missing.map((component) => ({
        code: "NETVIRT_COMPONENT_MISSING",
        message: `The upgrade coordinator of ${target.netvirt.name} does not list component ${component}.`,
        remediation: "Check that the coordinator is upgraded and has the bundle of the target version.",
        context: { component },
      })),
    );
  },
};

/** Every cluster that the request names is a group of the coordinator and can be upgraded as asked. */
export const groupsKnown: NetvirtPrecheck = {
  type: "NETVIRT_GROUPS_KNOWN",
  name: "Clusters known",
  description:
    "The host and edge clusters of the request are groups of the coordinator and take the request's options.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { client, retryPolicy, target } = input;
    const { hostClusters = [], edgeClusters = [] } = target.options;
    const read = (component: string, wanted: number) =>
      wanted === 0 ? Promise.resolve([]) : retryPolicy.retry(() => client.listGroups(component));
    const hosts = await read("HOST", hostClusters.length);
    const edges = await read("EDGE", edgeClusters.length);
    const named = [
      ...hostClusters.map((asked) => ({ asked, kind: "host", groups: hosts.filter((group) => isGroup(asked, group)) })),
      ...edgeClusters.map((asked) => ({ asked, kind: "edge", groups: edges.filter((group) => isGroup(asked, group)) })),
    ];
    const unknown = named.filter(({ groups }) => groups.length !== 1);
    const twice = named.filter(({ groups: [group] }, i) =>
      named.slice(0, i).some(({ groups: [earlier] }) => group !== undefined && group === earlier),
    );
    const fixed = edges.filter((group) => {
      const asked = edgeClusters.find((one) => isGroup(one, group))?.parallel;
      return asked !== undefined && asked !== group.parallel;
    });
    return netvirtFindings(input, [
      ...unknown.map(({ asked: { id }, kind, groups }) => ({
        code: "NETVIRT_GROUP_UNKNOWN",
        message:
          groups.length === 0
            ? `${target.netvirt.name} has no ${kind} cluster ${id}.`
            : `${target.netvirt.name} has ${groups.length} ${kind} clusters named ${id}.`,
        remediation: "Use ids or names that GET /v1/netvirt lists; if a name is not unique, use the id.",
        context: { group: id },
      })),
      ...twice.map(({ asked: { id }, kind }) => ({
        code: "RESOURCE_DUPLICATE",
        message: `The ${kind} cluster ${id} of ${target.netvirt.name} is named twice.`,
        remediation: "Name each cluster once.",
        context: { group: id },
      })),
      // The product cannot change it (docs/spec-gaps.md, edgeParallelUpgrade): to go on would ignore the request.
      ...fixed.map((group) => ({
        code: "NETVIRT_EDGE_PARALLEL_FIXED",
        message: `The nodes of edge cluster ${nameOf(group)} are upgraded ${orderOf(group)}, and the upgrade coordinator does not allow a change.`,
        remediation: `Remove edgeParallelUpgrade of this edge cluster${group.parallel === undefined ? "." : `, or give ${String(group.parallel)}.`}`,
        context: { group: group.id },
      })),
    ]);
  },
};

function orderOf({ parallel }: UnitGroup): string {
  if (parallel === undefined) return "in an order that the upgrade coordinator does not report";
  return parallel ? "at the same time" : "one after another";
}

/** The NETVIRT manager answers and accepts our credentials. */
const managerReachable: NetvirtPrecheck = {
  type: "COMPONENT_MANAGER_REACHABLE",
  name: "NETVIRT manager reachable",
  description: "The NETVIRT manager answers and accepts the service's credentials.",
  needs: [],
  run: async ({ client, retryPolicy }) => {
    await retryPolicy.retry(() => client.readSummary());
    return [];
  },
};

/** No node that is to be upgraded was left in NETVIRT maintenance mode, in which it would be passed over. */
const nodesInService: NetvirtPrecheck = {
  type: "NETVIRT_NODES_IN_SERVICE",
  name: "Nodes in service",
  description: "No node of this upgrade is in NETVIRT maintenance mode.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { client, retryPolicy, target } = input;
    const left: { readonly name: string; readonly group: string }[] = [];
    for (const component of netvirtComponentOrder(target.targetVersion, target.options.edgeOnly)) {
      const groups = await listGroups(client, retryPolicy, component);
      for (const group of groups.filter((candidate) => isIncluded(component, candidate, target.options))) {
        const units = (group.upgrade_units ?? []).filter(isInMaintenance);
        left.push(...units.map((unit) => ({ name: nameOf(unit), group: nameOf(group) })));
      }
    }
    return netvirtFindings(
      input,
      left.map(({ name, group }) => ({
        code: "NETVIRT_NODE_IN_MAINTENANCE",
        message: `Node ${name} of ${group} is in NETVIRT maintenance mode, so upgrades skip it.`,
        remediation: `Take ${name} out of NETVIRT maintenance mode in the NETVIRT manager (a restart of the node does not), then run the prechecks again.`,
        context: { node: name, group },
        subject: name,
      })),
    );
  },
};

/** The upgrade coordinator is there for the target version, and the instance is not newer. */
const targetOffered: NetvirtPrecheck = {
  type: "NETVIRT_TARGET_OFFERED",
  name: "Target version offered",
  description: "The upgrade coordinator has the bundle of the target version and has been upgraded by it.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const {
      system_version: now = "",
      target_version: offered,
      ...summary
    } = await retryPolicy.retry(() => client.readSummary());
    input.versionsRead?.([now]);
    if (now !== "" && compareVersions(now, target.targetVersion) > 0) {
      return netvirtFindings(input, [
        {
          code: "NETVIRT_NEWER_THAN_TARGET",
          message: `${target.netvirt.name} has version ${now}, which is newer than ${target.targetVersion}.`,
          remediation: "Choose a bundle that is at least as new as the NETVIRT instance.",
          context: { version: now },
        },
      ]);
    }
    if (!isVersion(offered, target.targetVersion)) {
      // What is there already needs no coordinator; nodes that are not are found when the plan is read.
      if (isVersion(now, target.targetVersion)) return [];
      return netvirtFindings(input, [
        {
          code: "NETVIRT_TARGET_NOT_OFFERED",
          message: `The upgrade coordinator of ${target.netvirt.name} has the bundle of ${offered ?? "no version"}, not of ${target.targetVersion}.`,
          remediation: `Upload the bundle of ${target.targetVersion} to the NETVIRT manager and upgrade its coordinator, then run the prechecks again.`,
          ...(offered !== undefined && { context: { offered } }),
        },
      ]);
    }
    if (summary.upgrade_coordinator_updated !== false) return [];
    return netvirtFindings(input, [
      {
        code: "NETVIRT_COORDINATOR_OUTDATED",
        message: `The upgrade coordinator of ${target.netvirt.name} (${summary.upgrade_coordinator_version ?? "unknown version"}) is not upgraded yet.`,
        remediation: "Upgrade the coordinator in the NETVIRT manager, then run the prechecks again.",
      },
    ]);
  },
};

/** All checks, in an order in which every one comes after those that it needs. */
const prechecks: readonly NetvirtPrecheck[] = [
  managerReachable,
  targetOffered,
  componentsReady,
  groupsKnown,
  nodesInService,
  coordinatorChecks,
  ...netvirtAdvice,
];

/** The rest of a run's time is for reading what the coordinator's checks have found, and for telling it. */
const shareOfChecks = 0.75;

interface PrecheckDependencies {
  clientOf(componentManagerId: string): NsxClient;
  readonly limits: ActivityLimits;
}

/** Runs every check of an instance and gives one Stage each; see `runClusterPrechecks`. */
export function runNetvirtPrechecks(
  { clientOf, limits }: PrecheckDependencies,
  target: NetvirtTarget & PrecheckOptions,
): Promise<ResourcePrechecks> {
  const { name, componentManagerId } = target.netvirt;
  const context = { netvirt: name, componentManager: componentManagerId };
  const stages: Stage[] = [];
  const versions = new VersionsRead();
  return runActivity({ context, heartbeat: () => ({ stages: [...stages] }), failure: pacedRetry }, async (beat) => {
    const client = clientOf(componentManagerId);
    const retryPolicy = precheckRetryPolicy(limits, target);
    const deadline = retryPolicy.clock.now() + shareOfChecks * timeOfRun();
    const input = { target, client, limits, deadline, retryPolicy, versionsRead: versions.add };
    const onStage = (stage: Stage) => {
      stages.push(stage);
      beat();
    };
    await runChecks({
      checks: prechecks,
      input,
      context,
      resourceId: target.netvirt.resourceId,
      acknowledged: target.acknowledged,
      onStage,
      isOutage: (error) => isOutage(retryPolicy, limits, error),
    });
    return { stages, ...versions.result };
  });
}
