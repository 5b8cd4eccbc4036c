import type { UnitGroup } from "../../drivers/nsx/nsx-models";
import { nameOf } from "../included-groups";
import { findingsOf, type NetvirtPrecheck } from "./netvirt-precheck";

/** Every cluster that the request names is a group of the coordinator and can be upgraded as asked. */
export const groupsKnown: NetvirtPrecheck = {
  type: "NETVIRT_GROUPS_KNOWN",
  name: "Clusters known",
  description:
    "The host and edge clusters of the request are groups of the coordinator and take the request's options.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { client, patience, target } = input;
    const { hostClusters = [], edgeClusters = [] } = target.options;
    const read = (component: string, wanted: number) =>
      wanted === 0 ? Promise.resolve([]) : patience.retry(() => client.listGroups(component));
    const hosts = await read("HOST", hostClusters.length);
    const edges = await read("EDGE", edgeClusters.length);
    const unknown = [
      ...hostClusters.filter(({ id }) => !isIn(hosts, id)).map(({ id }) => ({ id, kind: "host" })),
      ...edgeClusters.filter(({ id }) => !isIn(edges, id)).map(({ id }) => ({ id, kind: "edge" })),
    ];
    const fixed = edges.filter((group) => {
      const asked = edgeClusters.find(({ id }) => id === group.id)?.parallel;
      return asked !== undefined && asked !== group.parallel;
    });
    return findingsOf(input, [
      ...unknown.map(({ id, kind }) => ({
        code: "NETVIRT_GROUP_UNKNOWN",
        message: `${target.netvirt.name} has no ${kind} cluster ${id}.`,
        remediation: "Name the ids that the upgrade coordinator lists as its groups.",
        context: { group: id },
      })),
      // The product cannot change it (docs/spec-gaps.md, edgeParallelUpgrade): to go on would ignore the request.
      ...fixed.map((group) => ({
        code: "NETVIRT_EDGE_PARALLEL_FIXED",
        message: `The nodes of edge cluster ${nameOf(group)} are upgraded ${orderOf(group)}, which the upgrade coordinator does not let anybody change.`,
        remediation: `Leave out edgeParallelUpgrade of this edge cluster${group.parallel === undefined ? "." : `, or give ${String(group.parallel)}.`}`,
        context: { group: group.id },
      })),
    ]);
  },
};

function orderOf({ parallel }: UnitGroup): string {
  if (parallel === undefined) return "in an order that the upgrade coordinator does not tell";
  return parallel ? "at the same time" : "one after another";
}

function isIn(groups: readonly UnitGroup[], id: string): boolean {
  return groups.some((group) => group.id === id);
}
