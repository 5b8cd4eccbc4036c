import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Needs } from "./needs";

/** A platform of equal image-managed clusters. */
export interface Fleet {
  readonly clusters: number;
  readonly hosts: number;
  /** What the service needs to be told to use it. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Version of the only bundle of config/bundles.yaml that upgrades hosts in one step from what they have. */
const bundleId = "7d1c1f6e-3a52-4f0e-9c11-5c0a90010001";

/** Writes what the simulator simulates into `folder`: clusters `domain-c1001` and so on. Gives the file. */
export function makeSimulatorConfig(folder: string, { clusters, hosts }: Needs): string {
  return write(folder, "simulator.yaml", {
    depot: [{ version: "9.0.0-0.24755229" }, { version: "9.0.1-0.24957456" }],
    hostVersion: "9.0.0-0.24755229",
    generate: { clusters, hosts },
  });
}

/** Writes the inventory of those clusters, all of one domain. */
export function makeFleet(folder: string, { clusters, hosts, hostsAtOnce = 1 }: Needs, simulatorUrl: string): Fleet {
  const componentManager = {
    id: "vc",
    name: "The simulator",
    type: "VCENTER",
    url: simulatorUrl,
    username: "upgrade-service@example.com",
    passwordFile: write(folder, "password.txt", "any\n"),
  };
  const inventory = {
    componentManagers: [componentManager],
    domains: [{ id: "site", name: "Site", platformVersion: "5.2.1", rollout: { hostsAtOnce } }],
    clusters: Array.from({ length: clusters }, (_, i) => ({
      resourceId: resourceId(i),
      name: `cluster-${i + 1}`,
      domain: "site",
      componentManager: componentManager.id,
      cluster: `domain-c${1001 + i}`,
    })),
  };
  return { clusters, hosts, variables: { INVENTORY_FILE: write(folder, "inventory.yaml", inventory) } };
}

function write(folder: string, name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : stringify(content));
  return path;
}

/** The request that upgrades so many clusters of a fleet, beginning with the one of an index. */
export function specOf(first: number, clusters: number, draftMode = false): object {
  return {
    bundleId,
    resourceType: "CLUSTER",
    ...(draftMode && { draftMode }),
    resourceUpgradeSpecs: Array.from({ length: clusters }, (_, i) => ({
      resourceId: resourceId(first + i),
      upgradeNow: true,
    })),
  };
}

/** The id of the cluster of an index. */
export function resourceId(index: number): string {
  return `4a6c1a1e-51b2-4d3c-9e0f-${String(index + 1).padStart(12, "0")}`;
}
