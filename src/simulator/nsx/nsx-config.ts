import * as t from "io-ts";
import { Identifier, IntegerBetween, ListOf, model } from "../../domain/codec";

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
