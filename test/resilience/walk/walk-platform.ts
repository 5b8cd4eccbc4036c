import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A cluster that one operator upgrades again and again. */
export interface WalkedCluster {
  readonly resourceId: string;
  /** Its id in the simulator. */
  readonly simulated: string;
  /** The domain that it belongs to with all other clusters of its operator. */
  readonly domain: string;
}

/** The names of a cluster's hosts. */
export const hostsOf = ({ simulated }: WalkedCluster) => [1, 2].map((n) => `${simulated}-0${n}.walk.example.com`);

/** Files for a platform of many small clusters and many versions, so that each upgrade has something to do. */
export interface WalkPlatform {
  /** Environment of the service. */
  readonly variables: Readonly<Record<string, string>>;
  /** The clusters of each operator. */
  readonly clusters: readonly (readonly WalkedCluster[])[];
  remove(): void;
}

/** How many versions there are, one after another; an operator that has used them all cannot start anything new. */
const versions = 400;

/** The bundle with a version, counted from 1; 0 is what hosts have at first. */
export const bundleOf = (version: number) => `7d1c1f6e-3a52-4f0e-9c11-${String(version).padStart(12, "0")}`;
const imageOf = (version: number) => `9.0.${version}-0.${25_000_000 + version}`;

/** Writes catalog, inventory and simulator configuration for so many operators with so many clusters each. */
export function writeWalkPlatform(operators: number, clustersEach: number): WalkPlatform {
  const folder = mkdtempSync(join(tmpdir(), "ums-walk-"));
  const file = (name: string, content: unknown) => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };
  const clusters = Array.from({ length: operators }, (_, operator) =>
    Array.from({ length: clustersEach }, (_, i) => {
      const number = 101 + operator * clustersEach + i;
      const resourceId = `4a6c1a1e-51b2-4d3c-9e0f-000000000${number}`;
      return { resourceId, simulated: `domain-c${number}`, domain: `walk-${operator + 1}` };
    }),
  );
  const numbers = Array.from({ length: versions }, (_, i) => i + 1);
  file("password.txt", "any");
  const catalog = numbers.map((version) => ({
    ...{ id: bundleOf(version), type: "VENDOR_SOFTWARE", version: `9.0.${version}`, downloadStatus: "SUCCESSFUL" },
    components: [{ id: `hostos-${version}`, type: "HOSTOS", toVersion: imageOf(version) }],
  }));
  const componentManager = "walk-vc01";
  const inventory = {
    componentManagers: [
      {
        ...{ id: componentManager, name: "The simulator", type: "VCENTER", username: "upgrade-service" },
        ...{ url: "http://127.0.0.1:${SIMULATOR_PORT}", passwordFile: "password.txt" },
      },
    ],
    domains: clusters.flatMap(([one]) =>
      one ? [{ id: one.domain, name: `The walk of ${one.domain}`, platformVersion: "5.2.1" }] : [],
    ),
    clusters: clusters.flat().map(({ resourceId, simulated: cluster, domain }) => ({
      ...{ resourceId, name: `walk-${cluster}`, domain, componentManager, cluster },
    })),
  };
  const simulator = {
    depot: [0, ...numbers].map((version) => ({ version: imageOf(version) })),
    hostVersion: imageOf(0),
    clusters: clusters.flat().map(({ simulated: id }) => ({
      ...{ id, name: `walk-${id}`, hosts: 2, hostNames: `${id}-{nn}.walk.example.com` },
      ...{ admissionControl: true, dpm: true, poweredOnVms: 1 },
    })),
  };
  return {
    clusters,
    variables: {
      CATALOG_FILE: file("bundles.yaml", catalog),
      INVENTORY_FILE: file("inventory.yaml", inventory),
      SIMULATOR_CONFIG: file("simulator.yaml", simulator),
      SIMULATOR_HOST_SECONDS: "0.6",
      POLL_MIN_MILLISECONDS: "50",
      POLL_MAX_MILLISECONDS: "250",
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
