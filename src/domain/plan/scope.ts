import type { MgmtUpgradeUserInputSpec, NetvirtUpgradeUserInputSpec } from "../spec/upgrade-spec";
import type { ClusterFacts, Installations, MgmtFacts, NetvirtFacts } from "./facts";

/** The NETVIRT instances that a request is about: those of its clusters' domains. */
export function netvirtInScope(
  clusters: readonly Pick<ClusterFacts, "domain">[],
  { netvirt }: Installations,
): NetvirtFacts[] {
  const domains = new Set(clusters.map(({ domain }) => domain));
  return netvirt.filter(({ domain }) => domains.has(domain));
}

/** The management servers that a request is about: those that serve its clusters. */
export function mgmtInScope(
  clusters: readonly Pick<ClusterFacts, "componentManagerId">[],
  { management }: Installations,
): MgmtFacts[] {
  const managers = new Set(clusters.map(({ componentManagerId }) => componentManagerId));
  return management.filter(({ componentManagerId }) => managers.has(componentManagerId));
}

/** Whom an input is for: the one that it names, or the only one there is; undefined where that does not say. */
export function inputTarget<T extends { readonly resourceId: string }>(
  named: string | undefined,
  inScope: readonly T[],
): T | undefined {
  if (named !== undefined) return inScope.find(({ resourceId }) => resourceId === named);
  return inScope.length === 1 ? inScope[0] : undefined;
}

/** The input for a NETVIRT instance, where the request has one. */
export function netvirtInput(
  inputs: readonly NetvirtUpgradeUserInputSpec[],
  instance: NetvirtFacts,
  inScope: readonly NetvirtFacts[],
): NetvirtUpgradeUserInputSpec | undefined {
  return inputs.find(({ netvirtId }) => inputTarget(netvirtId, inScope) === instance);
}

/** The input for a management server, where the request has one. */
export function mgmtInput(
  inputs: readonly MgmtUpgradeUserInputSpec[],
  server: MgmtFacts,
  inScope: readonly MgmtFacts[],
): MgmtUpgradeUserInputSpec | undefined {
  return inputs.find(({ resourceId }) => inputTarget(resourceId, inScope) === server);
}

/** How a management server is upgraded (Spec 2.4). Without a word on it: by what the other fields are for. */
export function mechanismOf(
  input:
    Pick<MgmtUpgradeUserInputSpec, "upgradeMechanism" | "startSwitchoverTimestamp" | "temporaryNetwork"> | undefined,
): "InPlace" | "ReducedDowntimeMigration" {
  if (input?.upgradeMechanism !== undefined) return input.upgradeMechanism;
  const migrates = input?.startSwitchoverTimestamp !== undefined || input?.temporaryNetwork !== undefined;
  return migrates ? "ReducedDowntimeMigration" : "InPlace";
}
