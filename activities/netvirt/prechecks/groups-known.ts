import type { UnitGroup } from "../../drivers/nsx/nsx-models";
import { isGroup, nameOf } from "../included-groups";
import { findingsOf, type NetvirtPrecheck } from "./netvirt-precheck";

/** Every cluster that the request names is a group of the coordinator and can be upgraded as asked. */
export const groupsKnown: NetvirtPrecheck = {
  type: "NETVIRT_GROUPS_KNOWN",
  name: "Clusters known",
  description:
    "The host and edge clusters of the request are groups of the coordinator and take the request's options.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { client, retryPolicy, target } = input;
    const { hostClusters = [], edgeClusters = [] } = target.options;
    const read = (component: string, wanted: number) =>
      wanted === 0 ? Promise.resolve([]) : retryPolicy.retry(() => client.listGroups(component));
    const hosts = await read("HOST", hostClusters.length);
    const edges = await read("EDGE", edgeClusters.length);
    const named = [
      ...hostClusters.map((asked) => ({ asked, kind: "host", groups: hosts.filter((group) => isGroup(asked, group)) })),
      ...edgeClusters.map((asked) => ({ asked, kind: "edge", groups: edges.filter((group) => isGroup(asked, group)) })),
    ];
    const unknown = named.filter(({ groups }) => groups.length !== 1);
    const twice = named.filter(({ groups: [group] }, i) =>
      named.slice(0, i).some(({ groups: [earlier] }) => group !== undefined && group === earlier),
    );
    const fixed = edges.filter((group) => {
      const asked = edgeClusters.find((one) => isGroup(one, group))?.parallel;
      return asked !== undefined && asked !== group.parallel;
    });
    return findingsOf(input, [
      ...unknown.map(({ asked: { id }, kind, groups }) => ({
        code: "NETVIRT_GROUP_UNKNOWN",
        message:
          groups.length === 0
            ? `${target.netvirt.name} has no ${kind} cluster ${id}.`
            : `${target.netvirt.name} has ${groups.length} ${kind} clusters that are called ${id}.`,
        remediation: "Name ids or names that GET /v1/netvirt lists; where two have one name, their ids.",
        context: { group: id },
      })),
      ...twice.map(({ asked: { id }, kind }) => ({
        code: "RESOURCE_DUPLICATE",
        message: `The ${kind} cluster ${id} of ${target.netvirt.name} is named twice.`,
        remediation: "Name each cluster once.",
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
