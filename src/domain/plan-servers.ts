import type { AdmittedUpgrade } from "./admission/admit-upgrade";
import { findMember, type NetvirtFacts } from "./installations";
import { prefixLength } from "./ipv4";
import { mechanismOf } from "./mgmt-mechanism";
import type {
  AttemptPolicy,
  MgmtTemporaryNetwork,
  MgmtUpgradePlan,
  NetvirtUpgradeOptions,
  NetvirtUpgradePlan,
} from "./upgrade-plan";
import { mgmtInput, mgmtInScope, netvirtInput, netvirtInScope } from "./upgrade-scope";
import type { NetvirtUpgradeUserInputSpec, TemporaryNetwork } from "./upgrade-spec";

/** What a server's part shares with the clusters that it serves: the strictest attempts, the earliest time. */
export interface ServerTerms {
  readonly targetVersion: string;
  readonly attempts: AttemptPolicy;
  readonly scheduledTimestamp?: string;
}

/** The NETVIRT instances of the request's clusters, each with its input. */
export function planNetvirt(
  { spec, clusters, installations }: AdmittedUpgrade,
  terms: ServerTerms,
): NetvirtUpgradePlan[] {
  const inScope = netvirtInScope(clusters, installations);
  return inScope.map((instance) => ({
    kind: "NETVIRT",
    resourceId: instance.resourceId,
    name: instance.name,
    componentManagerId: instance.componentManagerId,
    ...terms,
    clusters: instance.clusters,
    options: netvirtOptions(netvirtInput(spec.netvirtUpgradeUserInputSpecs ?? [], instance, inScope), instance),
    ...namesOf(instance),
  }));
}

/** The management servers of the request's clusters, each with its input. */
export function planMgmt({ spec, clusters, installations }: AdmittedUpgrade, terms: ServerTerms): MgmtUpgradePlan[] {
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
