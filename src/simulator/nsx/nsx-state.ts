import * as t from "io-ts";
import { Identifier, IntegerBetween, ListOf, model, OneOf } from "../../domain/codec";
import { Moment } from "../state/moment";

export const NsxComponentType = OneOf("MP", "EDGE", "HOST", "FINALIZE_UPGRADE");
export type NsxComponentType = t.TypeOf<typeof NsxComponentType>;

/** One node. */
export const NsxUnit = model(
  {
    id: t.string,
    name: t.string,
    version: t.string,
    status: OneOf("NOT_STARTED", "IN_PROGRESS", "SUCCESS", "FAILED"),
  },
  {
    startedAt: Moment,
    /** Absent while it hangs. */
    endsAt: Moment,
    /** Why it fails at `endsAt`, or has failed. */
    failure: t.string,
    /** The fault because of which it fails or hangs. */
    fault: t.string,
    /** Left in the product's own maintenance mode by a failed upgrade: further runs pass it over. */
    maintenance: t.boolean,
  },
);
export type NsxUnit = t.TypeOf<typeof NsxUnit>;

/** A group of nodes with its place in the plan. */
export const NsxGroup = model(
  {
    id: t.string,
    name: t.string,
    type: NsxComponentType,
    parallel: t.boolean,
    enabled: t.boolean,
    pauseAfterEachUnit: t.boolean,
    extendedConfiguration: t.array(model({ key: t.string, value: t.string }, {})),
    revision: t.number,
    units: t.array(NsxUnit),
  },
  {},
);
export type NsxGroup = t.TypeOf<typeof NsxGroup>;

/** What the latest pre-upgrade checks of a component found, or will have found when they end. */
const NsxChecks = model(
  {
    startedAt: Moment,
    endsAt: Moment,
    failures: t.array(
      model({ id: t.string, message: t.string }, { node: t.string, group: t.string, warning: t.literal(true) }),
    ),
  },
  {},
);

export const NsxComponent = model(
  {
    type: NsxComponentType,
    status: OneOf("NOT_STARTED", "IN_PROGRESS", "PAUSING", "PAUSED", "SUCCESS", "FAILED"),
    parallel: t.boolean,
    pauseOnError: t.boolean,
    pauseAfterEachGroup: t.boolean,
  },
  {
    checks: NsxChecks,
    /** Of a component without nodes. */
    endsAt: Moment,
    /** What its status is still shown as, and until when. */
    shown: model({ status: t.string, until: Moment }, {}),
  },
);
export type NsxComponent = t.TypeOf<typeof NsxComponent>;

export const NsxManager = model(
  {
    id: t.string,
    name: t.string,
    version: t.string,
    targetVersion: t.string,
    coordinatorVersion: t.string,
    /** In the order in which the product upgrades them. */
    components: t.array(NsxComponent),
    groups: t.array(NsxGroup),
  },
  {
    /** Until when the overall status still says IN_PROGRESS. */
    lagsUntil: Moment,
    /** When its API does not answer because its own services restart. */
    restart: model({ from: Moment, until: Moment }, {}),
  },
);
export type NsxManager = t.TypeOf<typeof NsxManager>;

/** All NETVIRT managers. `inventory` is a digest of the configuration that they were made from. */
export const NsxState = model({ inventory: t.string, managers: t.array(NsxManager) }, {});
export type NsxState = t.TypeOf<typeof NsxState>;

/** The most nodes of one edge cluster of the product. */
const maximumEdges = 10;

/** A NETVIRT manager: its nodes, its edge clusters, and the clusters of the inventory whose hosts it prepares. */
export const NsxManagerConfig = model(
  {
    id: Identifier,
    /** Of every node at the start. */
    version: Identifier,
    /** What the upgrade coordinator has the bundle of. */
    targetVersion: Identifier,
  },
  {
    name: Identifier,
    coordinatorVersion: Identifier,
    nodes: IntegerBetween(1, 3),
    nodeNames: Identifier,
    edgeClusters: ListOf(
      model(
        { name: Identifier, nodes: IntegerBetween(1, maximumEdges) },
        { id: Identifier, nodeNames: Identifier, firstNode: IntegerBetween(0, 9999), parallel: t.boolean },
      ),
    ),
    /** `cluster` is the name of a cluster of the inventory. */
    hostClusters: ListOf(model({ cluster: Identifier }, { id: Identifier, parallel: t.boolean })),
  },
);
export type NsxManagerConfig = t.TypeOf<typeof NsxManagerConfig>;

/** What is wrong with managers beyond the shape of their fields. `clusters` are the names of the inventory's clusters. */
export function nsxContradictions(managers: readonly NsxManagerConfig[], clusters: readonly string[]): string[] {
  const taken = new Set<string>();
  return managers.flatMap(({ id, hostClusters = [] }, i) => {
    const path = `nsxManagers[${i}]`;
    const duplicate = taken.has(id) ? [`${path}.id: ${id} is already taken`] : [];
    taken.add(id);
    const unknown = hostClusters.flatMap(({ cluster }, n) =>
      clusters.includes(cluster) ? [] : [`${path}.hostClusters[${n}].cluster: no cluster is called ${cluster}`],
    );
    return [...duplicate, ...unknown];
  });
}
