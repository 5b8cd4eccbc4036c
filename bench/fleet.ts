import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";

/** The clusters that a benchmark needs. */
export interface FleetOptions {
  readonly clusters: number;
  readonly hosts: number;
  /** Hosts of a cluster that are upgraded together; default 1. */
  readonly hostsAtOnce?: number;
  /** So many clusters, the first ones, upgrade host by host whatever `hostsAtOnce` says; default 0. */
  readonly hostByHost?: number;
  /** Names of clusters and hosts as long as those of large companies are, about 50 characters. */
  readonly longNames?: boolean;
  /** Where notifications of upgrades are delivered. */
  readonly receiver?: { readonly url: string; readonly secret: string };
}

/** A platform of equal image-managed clusters. */
export interface Fleet {
  readonly clusters: number;
  readonly hosts: number;
  /** The configuration by which the service uses it. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The image that clusters of the simulator have, and the one that {@link upgradeRequest} brings them to. */
const installedVersion = "9.0.0-0.24755229";
export const targetVersion = "9.0.1-0.24957456";

/** The only bundle of config/bundles.yaml that upgrades hosts in one step from what they have. */
const bundleId = "7d1c1f6e-3a52-4f0e-9c11-5c0a90010001";

/** Writes what the simulator simulates into `folder`: clusters `domain-c1001` and so on. Gives the file. */
export function makeSimulatorConfig(folder: string, options: FleetOptions): string {
  const { clusters, hosts, longNames } = options;
  return write(folder, "simulator.yaml", {
    depot: [{ version: installedVersion }, { version: targetVersion }],
    hostVersion: installedVersion,
    ...(longNames
      ? { clusters: Array.from({ length: clusters }, (_, i) => named(i, hosts)) }
      : { generate: { clusters, hosts } }),
  });
}

/** A cluster of the simulator whose name and whose hosts' names are long; with few virtual machines, which it moves one by one. */
function named(index: number, hosts: number): object {
  return {
    name: longName(index),
    hosts,
    hostNames: longHostName(index, "{nnn}"),
    poweredOnVms: 1,
    poweredOffVms: 0,
  };
}

function longName(index: number): string {
  return `frankfurt-hall-02-workload-domain-07-production-cl-${number(index)}`;
}

function number(index: number): string {
  return String(index + 1).padStart(3, "0");
}

/** Writes the inventory of those clusters, all of one domain. */
export function makeFleet(folder: string, options: FleetOptions, simulatorUrl: string): Fleet {
  const { clusters, hosts, hostsAtOnce = 1, hostByHost = 0, longNames, receiver } = options;
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
      name: longNames ? longName(i) : `cluster-${i + 1}`,
      domain: "site",
      componentManager: componentManager.id,
      cluster: simulatedCluster(i),
      ...(i < hostByHost && { rollout: { hostsAtOnce: 1 } }),
    })),
    ...(receiver && {
      notificationReceivers: [
        { id: "chat", url: receiver.url, allowHttp: true, secretFile: write(folder, "secret.txt", receiver.secret) },
      ],
    }),
  };
  return { clusters, hosts, variables: { INVENTORY_FILE: write(folder, "inventory.yaml", inventory) } };
}

function write(folder: string, name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : stringify(content));
  return path;
}

/** The request that upgrades so many clusters of a fleet, beginning with the one of an index. */
export function upgradeRequest(first: number, clusters: number, draftMode = false) {
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

/** Id of the cluster of an index in the simulator. */
export function simulatedCluster(index: number): string {
  return `domain-c${1001 + index}`;
}

/** Name of a host of a fleet with long names, by the index of its cluster and its own number, from 1. */
export function longHostName(cluster: number, host: number | "{nnn}"): string {
  const name = typeof host === "number" ? String(host).padStart(3, "0") : host;
  return `esx-${name}.cl-${number(cluster)}.hall-02.frankfurt.dc.example.com`;
}

/** The id of the cluster of an index. */
export function resourceId(index: number): string {
  return `4a6c1a1e-51b2-4d3c-9e0f-${String(index + 1).padStart(12, "0")}`;
}
