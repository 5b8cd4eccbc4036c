import { randomUUID } from "node:crypto";
import type { Bundle } from "../../src/domain/spec/bundle";
import { clusters, sampleBundle } from "./sample-plan";

const [hostos] = sampleBundle.components ?? [];
const versions = { NETVIRT: "9.0.1.0.24952111", MGMT: "9.0.2.0" } as const;
/** A bundle's component of a server product. */
export const component = (type: keyof typeof versions) => ({ id: type, type, toVersion: versions[type] });

/** A bundle that can be installed and holds these components. */
export function bundleOf(...components: (NonNullable<Bundle["components"]>[number] | undefined)[]): Bundle {
  return { ...sampleBundle, id: "bundle-platform", components: components.filter((one) => one !== undefined) };
}

/** One that holds all three products, in another order than they are upgraded in. */
export const platformBundle = bundleOf(hostos, component("MGMT"), component("NETVIRT"));

/** A domain with a NETVIRT instance and a management server, with ids of its own. */
export function domain() {
  const id = randomUUID().slice(0, 8);
  const [netvirt, mgmt, resources] = [`nsx-${id}`, `vc-${id}`, clusters(2)];
  const ids = resources.map(({ resourceId }) => resourceId);
  const installations = {
    netvirt: [{ resourceId: netvirt, name: "nsx-01", componentManagerId: "nsx-01", domain: "fra1", clusters: ids }],
    management: [
      {
        resourceId: mgmt,
        name: "vc-01",
        componentManagerId: "vc01",
        clusters: ids,
        places: [{ domain: "fra1" }],
      },
    ],
    personalities: [],
    isos: [],
  };
  return { netvirt, mgmt, resources, installations, managementServer: mgmt };
}
