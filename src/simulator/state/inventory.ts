import { createHash } from "node:crypto";
import { numbered } from "../config/numbered";
import type { ClusterConfig, SimulatorConfig } from "../config/simulator-config";
import { createNsx } from "../nsx/nsx-inventory";
import type { ClusterState, HostState, SimulatorState } from "./simulator-state";

/** The first number of `host-…` and, for clusters without an id, of `domain-c…`. */
const firstHostId = 11;
const firstClusterId = 1001;

function allClusters(config: SimulatorConfig): ClusterConfig[] {
  const { generate } = config;
  const generated = Array.from({ length: generate?.clusters ?? 0 }, (_, i): ClusterConfig => {
    const number = String(i + 1).padStart(3, "0");
    return {
      name: `lab1-gen-cl${number}`,
      hosts: generate?.hosts ?? 1,
      hostNames: `lab1-cl${number}-esx-{nn}.gen.example.com`,
      ...(generate?.management && { management: generate.management }),
    };
  });
  return [...(config.clusters ?? []), ...generated];
}

function createHost(id: string, name: string, version: string, cluster: ClusterConfig): HostState {
  return {
    id,
    name,
    version,
    connection: "CONNECTED",
    power: "POWERED_ON",
    maintenance: "OUT",
    poweredOnVms: cluster.poweredOnVms ?? 12,
    poweredOffVms: cluster.poweredOffVms ?? 2,
    suspendedVms: 0,
    applies: 0,
  };
}

/** Changes whenever the configuration says another inventory, so that an old state is not taken for it. */
export function inventoryDigest(config: SimulatorConfig): string {
  const { depot, hostVersion, clusters, generate } = config;
  return createHash("sha256").update(JSON.stringify({ depot, hostVersion, clusters, generate })).digest("hex");
}

/**
 * The state of a component manager on which nothing was ever done: each image-managed cluster has one commit, the
 * image that its hosts run, and was scanned as compliant with it. Always the same for the same configuration and time.
 */
export function createInventory(config: SimulatorConfig, now: number): SimulatorState {
  let nextHost = firstHostId;
  let nextCluster = firstClusterId;
  const clusters = allClusters(config).map((cluster): ClusterState => {
    const version = cluster.version ?? config.hostVersion;
    const hosts = Array.from({ length: cluster.hosts }, (_, i) => {
      const template = cluster.hostNames ?? `${cluster.name}-esx-{nn}.example.com`;
      return createHost(`host-${nextHost++}`, numbered(template, (cluster.firstHost ?? 1) + i), version, cluster);
    });
    const management = cluster.management ?? "IMAGE";
    return {
      id: cluster.id ?? `domain-c${nextCluster++}`,
      name: cluster.name,
      management,
      haEnabled: true,
      drsEnabled: true,
      admissionControl: cluster.admissionControl ?? true,
      dpm: cluster.dpm ?? false,
      policy: {},
      commits: management === "IMAGE" ? [{ id: "1", version, author: "SYSTEM", at: now, message: "Imported" }] : [],
      drafts: [],
      hosts,
      tasks: [],
      ...(management === "IMAGE" && {
        lastScan: {
          at: now,
          commit: "1",
          version,
          hosts: Object.fromEntries(
            hosts.map((host) => [host.id, { version, status: "COMPLIANT" as const, staged: false }]),
          ),
        },
      }),
    };
  });
  return {
    version: 1,
    global: {
      inventory: inventoryDigest(config),
      nextDraft: 1,
      nextFault: 1,
      defaultPolicy: {},
      faults: [],
      ledgerLength: 0,
    },
    clusters,
    nsx: createNsx(config.nsxManagers ?? [], clusters),
  };
}
