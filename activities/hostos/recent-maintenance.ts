import type { HostMaintenance } from "./host-maintenance";

/** Which hosts are in maintenance mode, partly as it was a moment ago. */
export interface RecentMaintenance {
  readonly maintenance: HostMaintenance;
  /** A host has been remediated since, so that it is asked about again. */
  moved(host: string): void;
}

/**
 * For one run that goes from host to host within moments: the hosts of a cluster are asked about together when that is longer
 * ago than `recent` milliseconds, else only those that have moved since, which costs the component manager and the worker a
 * fraction of it.
 * Throws what the question throws; it is then asked again as before (docs/decisions/0028).
 */
export function recentMaintenance(maintenance: HostMaintenance, recent: number): RecentMaintenance {
  const known = new Map<string, { readonly at: number; readonly inside: ReadonlySet<string> }>();
  const moved = new Set<string>();
  return {
    moved: (host) => void moved.add(host),
    maintenance: {
      ...maintenance,
      inMaintenance: async (cluster, patience) => {
        const last = known.get(cluster);
        if (!last || Date.now() - last.at >= recent) {
          const at = Date.now();
          moved.clear();
          const inside = await maintenance.inMaintenance(cluster, patience);
          known.set(cluster, { at, inside });
          return inside;
        }
        const now = new Set(last.inside);
        for (const host of moved) {
          if (await maintenance.isInMaintenance(host, patience)) now.add(host);
          else now.delete(host);
        }
        moved.clear();
        known.set(cluster, { at: last.at, inside: now });
        return now;
      },
    },
  };
}
