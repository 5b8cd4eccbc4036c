import type { ClusterWork } from "../cluster-work";
import type { ClusterTarget, KnownCluster } from "../contract";
import type { Patience } from "../patience";

/** The hosts of a cluster as far as its component manager knows them already, with its policy where that is asked for. */
export async function readKnownCluster(
  work: Pick<ClusterWork, "readKnownHosts" | "readPolicy" | "readEffectivePolicy">,
  patience: Patience,
  { withPolicy = false, ...target }: ClusterTarget & { readonly withPolicy?: boolean },
): Promise<KnownCluster> {
  const [hosts, previous, effective] = await Promise.all([
    work.readKnownHosts(patience, target),
    withPolicy ? work.readPolicy(patience, target) : undefined,
    withPolicy ? work.readEffectivePolicy?.(patience, target) : undefined,
  ]);
  if (!hosts) return {};
  return { hosts, ...(previous && { policy: { previous, ...(effective && { effective }) } }) };
}
