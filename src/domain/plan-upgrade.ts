import type { ActivityWaits } from "./activity-waits";
import type { AdmittedUpgrade } from "./admission/admit-upgrade";
import type { Bundle } from "./bundle";
import { componentOf, hostosVersionOf, productsOf } from "./bundle-products";
import type { ClusterFacts } from "./cluster-facts";
import { attemptPolicyOf, strictest } from "./failure-action";
import type { Installations, PersonalityFacts } from "./installations";
import { planMgmt, planNetvirt, type ServerTerms } from "./plan-servers";
import { remediationOptions } from "./remediation-options";
import { warningsOfOptions } from "./option-warnings";
import { boundedWarnings, type RequestWarning } from "./request-warning";
import { toTimestamp } from "./timestamp";
import type { ClusterImage, ClusterUpgradePlan, Product, ProductPlan, ResourcePlan, UpgradePlan } from "./upgrade-plan";
import { beginTime, notBefore } from "./upgrade-schedule";
import type { PlannedReceiver } from "./upgrade-notice";
import { imageVersion } from "./version";
import { netvirtInScope } from "./upgrade-scope";
import type { PersonalitySpec, ResourceUpgradeSpec } from "./upgrade-spec";

/** What a plan gets from outside beside the request: its identity and the moment of acceptance (epoch milliseconds). */
export interface PlanIdentity {
  readonly id: string;
  readonly now: number;
  readonly resolutionDays: number;
  readonly lateStartMinutes: number;
  readonly waits: ActivityWaits;
  /** Who is told what happens to the upgrade. */
  readonly notifications?: readonly PlannedReceiver[];
  /** What was ignored of the request before. */
  readonly warnings?: readonly RequestWarning[];
}

/** Turns an admitted request into the plan of its upgrade. Pure: the same input gives the same plan. */
export function planUpgrade(
  admitted: AdmittedUpgrade,
  { id, now, resolutionDays, lateStartMinutes, waits, notifications = [], warnings: given = [] }: PlanIdentity,
): UpgradePlan {
  const { spec, bundle, clusters, installations } = admitted;
  const versionOf = (product: Product) => componentOf(bundle, product)?.toVersion ?? "";
  const planned = clusters.map((cluster, i) =>
    planCluster(cluster, spec.resourceUpgradeSpecs[i], bundle, installations),
  );
  const resources: Record<Product, () => readonly ResourcePlan[]> = {
    NETVIRT: () => planNetvirt(admitted, serverTerms(planned, versionOf("NETVIRT"))),
    MGMT: () => planMgmt(admitted, serverTerms(planned, versionOf("MGMT"))),
    HOSTOS: () => planned,
  };
  const products = productsOf(bundle).map((product) => ({ product, resources: resources[product]() }));
  const warnings = boundedWarnings([...given, ...warningsOfOptions(spec), ...(admitted.warnings ?? [])]);
  return {
    id,
    name: `Upgrade ${products.map(whatIsUpgraded).join(", then ")} to ${bundle.version ?? bundle.id}`,
    creationTimestamp: toTimestamp(now),
    draft: spec.draftMode === true,
    spec,
    bundle,
    products,
    resolutionDays,
    lateStartMinutes,
    waits,
    ...(warnings.length > 0 && { warnings }),
    ...(notifications.length > 0 && { notifications }),
  };
}

/** The one resource of a product by its name, several by their number. */
function whatIsUpgraded({ product, resources }: ProductPlan): string {
  const [one, several] = titles[product];
  if (resources.length !== 1) return `${resources.length} ${several}`;
  return `${one}${resources[0]?.name ?? ""}`;
}

const titles: Readonly<Record<Product, readonly [one: string, several: string]>> = {
  NETVIRT: ["NETVIRT ", "NETVIRT instances"],
  MGMT: ["management server ", "management servers"],
  HOSTOS: ["", "clusters"],
};

/** A server serves several clusters: it takes their strictest policy, and begins when the first of them may. */
function serverTerms(clusters: readonly ClusterUpgradePlan[], targetVersion: string): ServerTerms {
  const [first] = [...clusters].sort((a, b) => beginTime(a) - beginTime(b));
  return {
    targetVersion,
    attempts: strictest(clusters.map(({ attempts }) => attempts)),
    ...(first?.scheduledTimestamp !== undefined && { scheduledTimestamp: first.scheduledTimestamp }),
  };
}

function planCluster(
  facts: ClusterFacts,
  spec: ResourceUpgradeSpec | undefined,
  bundle: Bundle,
  installations: Installations,
): ClusterUpgradePlan {
  const { resourceId, name, componentManagerId, cluster, kind, rollout, managementServer } = facts;
  const scheduledTimestamp = spec && notBefore(spec);
  const netvirtInstances = netvirtInScope([facts], installations).map((instance) => instance.resourceId);
  const personality = installations.personalities.find(({ id }) => id === spec?.personalitySpec?.personalityId);
  const iso = installations.isos.find(({ id }) => id === spec?.customIsoSpec?.id);
  return {
    resourceId,
    name,
    componentManagerId,
    cluster,
    kind,
    targetVersion: imageVersion(personality?.version ?? iso?.version ?? hostosVersionOf(bundle, spec?.toVersion) ?? ""),
    ...(personality && { image: clusterImage(personality, spec?.personalitySpec) }),
    ...(iso && { customIsoId: iso.id }),
    rollout,
    ...(managementServer !== undefined && { managementServer }),
    netvirtInstances,
    attempts: attemptPolicyOf(spec?.hostosUpgradeOptionsSpec?.hostosUpgradeFailureAction),
    options: spec ? remediationOptions(spec) : {},
    ...(scheduledTimestamp !== undefined && { scheduledTimestamp }),
  };
}

function clusterImage(
  { name, addOn, components }: PersonalityFacts,
  { hardwareSupportSpecs = [] }: PersonalitySpec = {},
): ClusterImage {
  return {
    name,
    ...(addOn && { addOn }),
    ...(components && { components }),
    hardwareSupport: hardwareSupportSpecs.map(({ name: manager = "", packageSpec }) => ({
      manager,
      package: packageSpec?.name ?? "",
      version: packageSpec?.version ?? "",
    })),
  };
}
