import type {
  Iso,
  ManagementServer,
  NetvirtGroup,
  NetvirtInstance,
  Personality,
} from "../../domain/spec/installations";

/** Lists of the service that a field of the form takes an id of. */
export type IdList = "NETVIRT" | "HOST_CLUSTERS" | "EDGE_CLUSTERS" | "MANAGEMENT_SERVERS" | "PERSONALITIES" | "ISOS";

/** What can be chosen for a field: the value that it takes, and what people call it. */
export interface Suggestion {
  readonly value: string;
  readonly label?: string;
}

export type KnownIds = Readonly<Record<IdList, readonly Suggestion[]>>;

export const noIds: KnownIds = {
  NETVIRT: [],
  HOST_CLUSTERS: [],
  EDGE_CLUSTERS: [],
  MANAGEMENT_SERVERS: [],
  PERSONALITIES: [],
  ISOS: [],
};

interface Lists {
  readonly netvirt?: readonly NetvirtInstance[] | undefined;
  readonly servers?: readonly ManagementServer[] | undefined;
  readonly personalities?: readonly Personality[] | undefined;
  readonly isos?: readonly Iso[] | undefined;
}

/** Every id that a request can name beside bundle and clusters. What has not been read yet proposes nothing. */
export function knownIds({ netvirt = [], servers = [], personalities = [], isos = [] }: Lists): KnownIds {
  return {
    NETVIRT: netvirt.map(named),
    HOST_CLUSTERS: groupsOf(netvirt, ({ hostClusters = [] }) => hostClusters),
    EDGE_CLUSTERS: groupsOf(netvirt, ({ edgeClusters = [] }) => edgeClusters),
    MANAGEMENT_SERVERS: servers.map(named),
    PERSONALITIES: personalities.map(versioned),
    ISOS: isos.map(versioned),
  };
}

/** Groups of all instances; where there are several, each with the name of its own. */
function groupsOf(
  netvirt: readonly NetvirtInstance[],
  groups: (instance: NetvirtInstance) => readonly NetvirtGroup[],
): Suggestion[] {
  return netvirt
    .flatMap((instance) =>
      groups(instance).map(({ id, name }) => ({
        value: id,
        label: netvirt.length > 1 ? `${name}, ${instance.name}` : name,
      })),
    )
    .filter(isFirst);
}

/** Two coordinators may have the same id. */
function isFirst({ value }: Suggestion, i: number, all: readonly Suggestion[]): boolean {
  return all.findIndex((other) => other.value === value) === i;
}

function named({ id, name }: { readonly id: string; readonly name: string }): Suggestion {
  return { value: id, label: name };
}

function versioned({ id, name, version }: { readonly id: string; readonly name: string; readonly version: string }) {
  return { value: id, label: `${name}, ${version}` };
}
