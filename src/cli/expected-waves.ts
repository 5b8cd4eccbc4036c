import type { Cluster } from "../domain/cluster";
import type { UpgradePreview } from "../domain/upgrade-preview";

type PreviewedResource = UpgradePreview["products"][number]["resources"][number];

/** What is expected to be out of service at the same time: one step of every cluster or server of a product. */
export interface Wave {
  readonly product: UpgradePreview["products"][number]["product"];
  /** From 1, within the product. */
  readonly wave: number;
  readonly parts: readonly WavePart[];
}

interface WavePart {
  readonly resourceId: string;
  readonly name: string;
  /** The hosts that are in work; absent for servers, and where a cluster's hosts could not be read. */
  readonly hosts?: readonly string[];
}

/**
 * The waves in which a plan is expected to run, if every resource began at once and each host took as long as another.
 * Products go one after another; in each, every cluster takes as many hosts at once as it may. Hosts that run the target
 * version are left out, and so are clusters that have none left.
 */
export function expectedWaves({ products }: UpgradePreview, clusters: ReadonlyMap<string, Cluster>): Wave[] {
  return products.flatMap(({ product, resources }) => {
    const steps = resources.map((resource) => stepsOf(resource, clusters.get(resource.resourceId)));
    const count = Math.max(0, ...steps.map(({ length }) => length));
    return Array.from({ length: count }, (_, index) => ({
      product,
      wave: index + 1,
      parts: steps.flatMap((one) => one[index] ?? []),
    }));
  });
}

function stepsOf(resource: PreviewedResource, cluster: Cluster | undefined): WavePart[] {
  const { resourceId, name, targetVersion, hostsAtOnce = 1 } = resource;
  if (!cluster?.hosts) return [{ resourceId, name }];
  const hosts = cluster.hosts.filter(({ version }) => version !== targetVersion).map(({ fqdn }) => fqdn);
  return Array.from({ length: Math.ceil(hosts.length / hostsAtOnce) }, (_, index) => ({
    resourceId,
    name,
    hosts: hosts.slice(index * hostsAtOnce, (index + 1) * hostsAtOnce),
  }));
}
