import type { AdmittedUpgrade } from "./admission/admit-upgrade";
import { componentOf, productsOf } from "./bundle-products";
import type { ClusterFacts } from "./cluster-facts";
import { attemptPolicyOf } from "./failure-action";
import type { HostRemediationOptions } from "./host-remediation";
import { toTimestamp } from "./timestamp";
import type { ClusterUpgradePlan, UpgradePlan } from "./upgrade-plan";
import { notBefore } from "./upgrade-schedule";
import type { ResourceUpgradeSpec } from "./upgrade-spec";

/** What a plan gets from outside beside the request: its identity and the moment of acceptance (epoch milliseconds). */
export interface PlanIdentity {
  readonly id: string;
  readonly now: number;
  readonly resolutionDays: number;
}

/** Turns an admitted request into the plan of its upgrade. Pure: the same input gives the same plan. */
export function planUpgrade(admitted: AdmittedUpgrade, { id, now, resolutionDays }: PlanIdentity): UpgradePlan {
  const { spec, bundle, clusters } = admitted;
  const targetVersion = componentOf(bundle, "HOSTOS")?.toVersion ?? "";
  const resources = clusters.map((cluster, i) => planCluster(cluster, spec.resourceUpgradeSpecs[i], targetVersion));
  const names = clusters.length === 1 ? (clusters[0]?.name ?? "") : `${clusters.length} clusters`;
  return {
    id,
    name: `Upgrade ${names} to ${bundle.version ?? bundle.id}`,
    creationTimestamp: toTimestamp(now),
    draft: spec.draftMode === true,
    spec,
    bundle,
    products: productsOf(bundle).map((product) => ({ product, resources: product === "HOSTOS" ? resources : [] })),
    resolutionDays,
  };
}

function planCluster(
  { resourceId, name, componentManagerId, cluster, kind }: ClusterFacts,
  spec: ResourceUpgradeSpec | undefined,
  targetVersion: string,
): ClusterUpgradePlan {
  const scheduledTimestamp = spec && notBefore(spec);
  return {
    resourceId,
    name,
    componentManagerId,
    cluster,
    kind,
    targetVersion,
    attempts: attemptPolicyOf(spec?.hostosUpgradeOptionsSpec?.hostosUpgradeFailureAction),
    options: spec ? remediationOptions(spec) : {},
    ...(scheduledTimestamp !== undefined && { scheduledTimestamp }),
  };
}

/** The flags that exist twice are taken from the options; the resource's own are the older form (docs/spec-gaps.md). */
function remediationOptions(spec: ResourceUpgradeSpec): HostRemediationOptions {
  const { hostosUpgradeFailureAction: _ours, ...options } = spec.hostosUpgradeOptionsSpec ?? {};
  return {
    ...(spec.enableQuickboot !== undefined && { enableQuickboot: spec.enableQuickboot }),
    ...(spec.evacuateOfflineVms !== undefined && { evacuateOfflineVms: spec.evacuateOfflineVms }),
    ...(spec.shutdownVms === true && { preRemediationPowerAction: "POWER_OFF_VMS" }),
    ...options,
  };
}
