import type { AdmittedUpgrade } from "../admission/admit-upgrade";
import { checksFor, type PlannedCheck } from "../checks/own-check";
import { prefixLength } from "../ipv4";
import type { PlannedReceiver } from "../notifications/upgrade-notification";
import { placeOf } from "../opening";
import type { Bundle } from "../spec/bundle";
import { boundedWarnings, type RequestWarning } from "../spec/request-warning";
import type {
  HostosUpgradeFailureAction,
  NetvirtUpgradeUserInputSpec,
  PersonalitySpec,
  ResourceUpgradeSpec,
  TemporaryNetwork,
  UpgradeSpec,
} from "../spec/upgrade-spec";
import type { ActivityWaits } from "../time-limits";
import { toTimestamp } from "../timestamp";
import { imageVersion } from "../version";
import {
  type ClusterFacts,
  componentOf,
  findMember,
  hostosVersionOf,
  type Installations,
  type NetvirtFacts,
  type PersonalityFacts,
  productsOf,
} from "./facts";
import { type HostScope, scopeSize } from "./host-scope";
import { overrideMaintenance } from "./maintenance-override";
import { remediationOptions } from "./remediation-options";
import { rolloutAsked } from "./rollout";
import { beginTime, notBefore } from "./schedule";
import { mechanismOf, mgmtInput, mgmtInScope, netvirtInput, netvirtInScope } from "./scope";
import type {
  AttemptPolicy,
  ClusterImage,
  ClusterUpgradePlan,
  MgmtTemporaryNetwork,
  MgmtUpgradePlan,
  NetvirtUpgradeOptions,
  NetvirtUpgradePlan,
  Product,
  ProductPlan,
  ResourcePlan,
  UpgradePlan,
} from "./upgrade-plan";

/** What a plan gets from outside beside the request: its identity and the moment of acceptance (epoch milliseconds). */
export interface PlanIdentity {
  readonly id: string;
  readonly now: number;
  readonly resolutionDays: number;
  readonly lateStartMinutes: number;
  readonly lockLeadMinutes: number;
  readonly waits: ActivityWaits;
  /** The checks of the inventory. */
  readonly checks?: readonly PlannedCheck[];
  /** Who is told what happens to the upgrade. */
  readonly notifications?: readonly PlannedReceiver[];
  /** Minutes after which they are told of a wait. */
  readonly longWaitMinutes?: number | undefined;
  /** Who asks for it. */
  readonly requestedBy?: string | undefined;
  /** Where people open the console. */
  readonly publicUrl?: string | undefined;
  /** Where Temporal is reached. */
  readonly temporalAddress?: string | undefined;
  /** What was ignored of the request before. */
  readonly warnings?: readonly RequestWarning[];
}

/** Turns an admitted request into the plan of its upgrade. Pure: the same input gives the same plan. */
export function planUpgrade(
  admitted: AdmittedUpgrade,
  {
    id,
    now,
    publicUrl,
    requestedBy,
    checks: known = [],
    notifications = [],
    warnings: given = [],
    ...identity
  }: PlanIdentity,
): UpgradePlan {
  const { resolutionDays, lateStartMinutes, lockLeadMinutes, longWaitMinutes, waits, temporalAddress } = identity;
  const { spec, bundle, clusters, installations } = admitted;
  const versionOf = (product: Product) => componentOf(bundle, product)?.toVersion ?? "";
  const planned = clusters.map((cluster, i) =>
    planCluster(
      cluster,
      spec.resourceUpgradeSpecs[i],
      bundle,
      installations,
      admitted.hostScopes?.get(cluster.resourceId),
    ),
  );
  const resources: Record<Product, () => readonly ResourcePlan[]> = {
    NETVIRT: () => planNetvirt(admitted, serverTerms(planned, versionOf("NETVIRT"))),
    MGMT: () => planMgmt(admitted, serverTerms(planned, versionOf("MGMT"))),
    HOSTOS: () => planned,
  };
  const products = productsOf(bundle).map((product) => ({ product, resources: resources[product]() }));
  // What is upgraded beside the clusters serves them, and belongs to their domains.
  const approvals = Math.max(...clusters.map((cluster) => cluster.approvals ?? 0));
  const warnings = boundedWarnings([...given, ...warningsOfOptions(spec), ...(admitted.warnings ?? [])]);
  const places = products.flatMap((product) => product.resources).flatMap((resource) => resource.places);
  const checks = checksFor(known, places);
  const plan: UpgradePlan = {
    id,
    name: `Upgrade ${products.map(whatIsUpgraded).join(", then ")} to ${bundle.version ?? bundle.id}`,
    creationTimestamp: toTimestamp(now),
    draft: spec.draftMode === true,
    spec,
    bundle,
    products,
    ...(approvals > 0 && { approvals }),
    resolutionDays,
    lateStartMinutes,
    lockLeadMinutes,
    waits,
    ...(warnings.length > 0 && { warnings }),
    ...(checks.length > 0 && { checks }),
    ...(notifications.length > 0 && { notifications, ...(longWaitMinutes !== undefined && { longWaitMinutes }) }),
    ...(publicUrl !== undefined && { page: upgradePage(publicUrl, id) }),
    ...(temporalAddress !== undefined && { temporalAddress }),
  };
  const { maintenanceWindow, reason = "" } = spec;
  const at = plan.creationTimestamp;
  return maintenanceWindow === "IGNORE"
    ? overrideMaintenance(plan, { reason, at, ...(requestedBy !== undefined && { by: requestedBy }) })
    : plan;
}

/** The one resource of a product by its name, several by their number. */
export function whatIsUpgraded({ product, resources }: ProductPlan): string {
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
  hosts: HostScope | undefined,
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
    rollout: { ...rollout, ...rolloutAsked(spec?.rollout, scopeSize(hosts, facts.hostCount)) },
    ...(managementServer !== undefined && { managementServer }),
    netvirtInstances,
    ...(hosts && { hosts }),
    places: [{ ...placeOf(facts), clusters: [resourceId] }],
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

/** What a server's part shares with the clusters that it serves: the strictest attempts, the earliest time. */
interface ServerTerms {
  readonly targetVersion: string;
  readonly attempts: AttemptPolicy;
  readonly scheduledTimestamp?: string;
}

/** The NETVIRT instances of the request's clusters, each with its input. */
function planNetvirt({ spec, clusters, installations }: AdmittedUpgrade, terms: ServerTerms): NetvirtUpgradePlan[] {
  const inScope = netvirtInScope(clusters, installations);
  return inScope.map((instance) => {
    const input = netvirtInput(spec.netvirtUpgradeUserInputSpecs ?? [], instance, inScope);
    return {
      kind: "NETVIRT",
      resourceId: instance.resourceId,
      name: instance.name,
      componentManagerId: instance.componentManagerId,
      ...terms,
      clusters: instance.clusters,
      places: [{ ...placeOf(instance), clusters: clustersToChange(input, instance) }],
      options: netvirtOptions(input, instance),
      ...namesOf(instance),
    };
  });
}

/** The management servers of the request's clusters, each with its input. */
function planMgmt({ spec, clusters, installations }: AdmittedUpgrade, terms: ServerTerms): MgmtUpgradePlan[] {
  const inScope = mgmtInScope(clusters, installations);
  return inScope.map((server) => {
    const input = mgmtInput(spec.mgmtUpgradeUserInputSpecs ?? [], server, inScope);
    const temporaryNetwork = temporaryNetworkOf(input?.temporaryNetwork);
    return {
      kind: "MGMT",
      resourceId: server.resourceId,
      name: server.name,
      componentManagerId: server.componentManagerId,
      ...terms,
      mechanism: mechanismOf(input),
      clusters: server.clusters,
      places: server.places,
      ...namesOf(server),
      ...(input?.startSwitchoverTimestamp !== undefined && {
        startSwitchoverTimestamp: input.startSwitchoverTimestamp,
      }),
      ...(temporaryNetwork && { temporaryNetwork }),
    };
  });
}

/** How a server is known in the network. */
function namesOf({ fqdn, sans }: Pick<NetvirtFacts, "fqdn" | "sans">) {
  return { ...(fqdn !== undefined && { fqdn }), ...(sans && { sans }) };
}

function netvirtOptions(input: NetvirtUpgradeUserInputSpec = {}, instance: NetvirtFacts): NetvirtUpgradeOptions {
  const { netvirtHostClusterUpgradeSpecs: hosts, netvirtEdgeClusterUpgradeSpecs: edges } = input;
  const { isEdgeOnlyUpgrade, isHostClustersUpgradeParallel, isEdgeClustersUpgradeParallel } =
    input.netvirtUpgradeOptions ?? {};
  return {
    edgeOnly: isEdgeOnlyUpgrade === true,
    ...(hosts && {
      hostClusters: hosts.map(({ hostClusterId = "", hostParallelUpgrade, liveUpgrade }) => ({
        id: hostClusterId,
        ...nameOfMember(instance, hostClusterId),
        ...(hostParallelUpgrade !== undefined && { parallel: hostParallelUpgrade }),
        ...(liveUpgrade !== undefined && { liveUpgrade }),
      })),
    }),
    ...(edges && {
      edgeClusters: edges.map(({ edgeClusterId = "", edgeParallelUpgrade }) => ({
        id: edgeClusterId,
        ...(edgeParallelUpgrade !== undefined && { parallel: edgeParallelUpgrade }),
      })),
    }),
    ...(isHostClustersUpgradeParallel !== undefined && { hostClustersParallel: isHostClustersUpgradeParallel }),
    ...(isEdgeClustersUpgradeParallel !== undefined && { edgeClustersParallel: isEdgeClustersUpgradeParallel }),
  };
}

/** The clusters whose hosts a NETVIRT instance upgrades: all of its domain where the request does not choose some. */
function clustersToChange(input: NetvirtUpgradeUserInputSpec = {}, instance: NetvirtFacts): readonly string[] {
  if (input.netvirtUpgradeOptions?.isEdgeOnlyUpgrade === true) return [];
  const chosen = input.netvirtHostClusterUpgradeSpecs?.map(({ hostClusterId = "" }) =>
    findMember(instance, hostClusterId),
  );
  // One that goes by a name of the coordinator's own may be any of them.
  return chosen?.every((member) => member !== undefined)
    ? chosen.map(({ resourceId }) => resourceId)
    : instance.clusters;
}

function nameOfMember(instance: NetvirtFacts, id: string) {
  const member = findMember(instance, id);
  return member && member.name !== id ? { name: member.name } : {};
}

/** Admission has made sure that a STATIC network is complete. */
function temporaryNetworkOf(network: TemporaryNetwork | undefined): MgmtTemporaryNetwork | undefined {
  if (!network) return undefined;
  const { networkMode, ipAddress = "", subnetMask = "", gateway = "" } = network;
  if (networkMode !== "STATIC") return { mode: "AUTOMATIC" };
  return { mode: "STATIC", ipAddress, prefix: prefixLength(subnetMask) ?? 0, gateway };
}

/** Of several policies the one that a step takes which serves them all: the fewest attempts, then the shortest wait. */
function strictest(policies: readonly AttemptPolicy[]): AttemptPolicy {
  const [first = attemptPolicyOf(undefined), ...others] = policies;
  return others.reduce(
    (least, policy) =>
      policy.maximumAttempts < least.maximumAttempts ||
      (policy.maximumAttempts === least.maximumAttempts && policy.retryDelay < least.retryDelay)
        ? policy
        : least,
    first,
  );
}

/** What RETRY means where the request gives no numbers: the least that the component manager's own retry knows. */
const defaults = { retryCount: 3, retryDelay: 300 };

/**
 * How often a host is tried (docs/spec-gaps.md, hostosUpgradeFailureAction). RETRY tries `retryCount` times more, with
 * `retryDelay` seconds in between; FAIL or no action tries once, and its count and delay are ignored.
 */
export function attemptPolicyOf(action: HostosUpgradeFailureAction | undefined): AttemptPolicy {
  if (action?.action !== "RETRY") return { maximumAttempts: 1, retryDelay: 0 };
  return {
    maximumAttempts: (action.retryCount ?? defaults.retryCount) + 1,
    retryDelay: action.retryDelay ?? defaults.retryDelay,
  };
}

/** Options of a request that are known and yet have no effect, because another one rules them out. */
function warningsOfOptions(spec: UpgradeSpec): readonly RequestWarning[] {
  return spec.resourceUpgradeSpecs.flatMap((resource, i) => ofResource(resource, `resourceUpgradeSpecs[${i}]`));
}

function ofResource(resource: ResourceUpgradeSpec, path: string): RequestWarning[] {
  const options = resource.hostosUpgradeOptionsSpec ?? {};
  const { retryCount, retryDelay, action } = options.hostosUpgradeFailureAction ?? {};
  const failure = `${path}.hostosUpgradeOptionsSpec.hostosUpgradeFailureAction`;
  const retries = { retryCount, retryDelay };
  const effective = remediationOptions(resource);
  return [
    ...(["retryCount", "retryDelay"] as const)
      .filter((field) => action !== "RETRY" && (retries[field] ?? 0) > 0)
      .map((field) => {
        const because = action === undefined ? "the action RETRY is missing" : "the action is FAIL";
        return withoutEffect(
          `${failure}.${field}`,
          `${field} has no effect, because ${because}: each host has one attempt`,
        );
      }),
    ...(["enableQuickboot", "evacuateOfflineVms"] as const)
      .filter((field) => resource[field] !== undefined && options[field] !== undefined)
      .filter((field) => resource[field] !== options[field])
      .map((field) => {
        const wins = `hostosUpgradeOptionsSpec.${field} ${String(options[field])} counts`;
        return withoutEffect(`${path}.${field}`, `${field} ${String(resource[field])} has no effect: ${wins}`);
      }),
    ...(resource.upgradeNow === true && resource.scheduledTimestamp !== undefined
      ? [withoutEffect(`${path}.scheduledTimestamp`, "scheduledTimestamp has no effect: upgradeNow is true")]
      : []),
    ...(effective.enableQuickPatch === true && effective.enableQuickboot === true
      ? [
          withoutEffect(
            options.enableQuickboot === undefined
              ? `${path}.enableQuickboot`
              : `${path}.hostosUpgradeOptionsSpec.enableQuickboot`,
            "enableQuickboot has no effect for hosts that enableQuickPatch patches without a restart",
          ),
        ]
      : []),
    ...(effective.evacuateOfflineVms === true && effective.preRemediationPowerAction === "POWER_OFF_VMS"
      ? [
          withoutEffect(
            options.evacuateOfflineVms === undefined
              ? `${path}.evacuateOfflineVms`
              : `${path}.hostosUpgradeOptionsSpec.evacuateOfflineVms`,
            "evacuateOfflineVms also moves the virtual machines that POWER_OFF_VMS powers off",
          ),
        ]
      : []),
  ];
}

/** `what` has no full stop. */
function withoutEffect(path: string, what: string): RequestWarning {
  return { code: "OPTIONS_EXCLUDE_EACH_OTHER", path, message: `${path}: ${what}.` };
}

/**
 * The address of the console's page of an upgrade (`src/console/model/page-address.ts`). `publicUrl`: where people open the
 * service, without a slash at its end.
 */
function upgradePage(publicUrl: string, upgradeId: string): string {
  return `${publicUrl}/#/upgrades/${encodeURIComponent(upgradeId)}`;
}
