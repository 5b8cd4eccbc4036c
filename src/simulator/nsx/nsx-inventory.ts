import { createHash } from "node:crypto";
import { numbered } from "../config/numbered";
import type {
  NsxComponent,
  NsxComponentType,
  NsxGroup,
  NsxManager,
  NsxManagerConfig,
  NsxState,
  NsxUnit,
} from "./nsx-state";

/** A cluster of the inventory, as far as a NETVIRT manager needs it. */
interface KnownCluster {
  readonly name: string;
  readonly hosts: readonly { readonly name: string }[];
}

/** From this version on the managers come first and the upgrade is finalized. */
const managersFirst = 9;

/** A UUID that is always the same for the same text. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Managers on which nothing was ever done; always the same for the same configuration. */
export function createNsx(managers: readonly NsxManagerConfig[], clusters: readonly KnownCluster[]): NsxState {
  return {
    inventory: createHash("sha256").update(JSON.stringify(managers)).digest("hex"),
    managers: managers.map((manager) => createManager(manager, clusters)),
  };
}

/** The managers as they were saved, or new ones where others are configured by now. */
export function restoredNsx(
  saved: NsxState | undefined,
  managers: readonly NsxManagerConfig[],
  clusters: readonly KnownCluster[],
): NsxState {
  const fresh = createNsx(managers, clusters);
  return saved?.inventory === fresh.inventory ? saved : fresh;
}

function createManager(config: NsxManagerConfig, clusters: readonly KnownCluster[]): NsxManager {
  const { id, name = id, version, targetVersion, coordinatorVersion = targetVersion } = config;
  const unit = (unitName: string): NsxUnit => ({
    id: uuidOf(`${id} ${unitName}`),
    name: unitName,
    version,
    status: "NOT_STARTED",
  });
  const group = (type: NsxComponentType, groupName: string, units: NsxUnit[], over: Partial<NsxGroup>): NsxGroup => ({
    id: uuidOf(`${id} ${type} ${groupName}`),
    name: groupName,
    type,
    parallel: true,
    enabled: true,
    pauseAfterEachUnit: false,
    extendedConfiguration: [],
    revision: 0,
    units,
    ...over,
  });
  const many = (count: number, template: string, first = 1) =>
    Array.from({ length: count }, (_, i) => unit(numbered(template, first + i)));

  const managerNodes = many(config.nodes ?? 3, config.nodeNames ?? `${id}-{nn}.example.com`);
  const edges = (config.edgeClusters ?? []).map((edge) =>
    group("EDGE", edge.name, many(edge.nodes, edge.nodeNames ?? `${edge.name}-{nn}.example.com`, edge.firstNode), {
      ...(edge.id !== undefined && { id: edge.id }),
      ...(edge.parallel !== undefined && { parallel: edge.parallel }),
    }),
  );
  const hosts = (config.hostClusters ?? []).map(({ cluster, id: groupId, parallel = false }) => {
    const units = clusters.find((known) => known.name === cluster)?.hosts.map((host) => unit(host.name)) ?? [];
    return group("HOST", cluster, units, {
      parallel,
      extendedConfiguration: [
        { key: "upgrade_mode", value: "maintenance_mode" },
        { key: "rebootless_upgrade", value: "false" },
      ],
      ...(groupId !== undefined && { id: groupId }),
    });
  });
  return {
    id,
    name,
    version,
    targetVersion,
    coordinatorVersion,
    components: componentsOf(targetVersion),
    groups: [group("MP", `${name} managers`, managerNodes, { parallel: false }), ...edges, ...hosts],
  };
}

function componentsOf(targetVersion: string): NsxComponent[] {
  const types: NsxComponentType[] =
    Number.parseInt(targetVersion, 10) >= managersFirst
      ? ["MP", "EDGE", "HOST", "FINALIZE_UPGRADE"]
      : ["EDGE", "HOST", "MP"];
  return types.map((type) => ({
    type,
    status: "NOT_STARTED",
    parallel: true,
    pauseOnError: type !== "HOST",
    pauseAfterEachGroup: false,
  }));
}
