import { netvirtComponentOrder } from "../../../src/domain/netvirt-upgrade";
import { isInMaintenance, isIncluded, nameOf } from "../included-groups";
import { listGroups } from "../read-netvirt-upgrade";
import { findingsOf, type NetvirtPrecheck } from "./netvirt-precheck";

/** No node that is to be upgraded was left in NETVIRT maintenance mode, in which it would be passed over. */
export const nodesInService: NetvirtPrecheck = {
  type: "NETVIRT_NODES_IN_SERVICE",
  name: "Nodes in service",
  description: "No node that is to be upgraded is in NETVIRT maintenance mode.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { client, retryPolicy, target } = input;
    const left: { readonly name: string; readonly group: string }[] = [];
    for (const component of netvirtComponentOrder(target.targetVersion, target.options.edgeOnly)) {
      const groups = await listGroups(client, retryPolicy, component);
      for (const group of groups.filter((candidate) => isIncluded(component, candidate, target.options))) {
        const units = (group.upgrade_units ?? []).filter(isInMaintenance);
        left.push(...units.map((unit) => ({ name: nameOf(unit), group: nameOf(group) })));
      }
    }
    return findingsOf(
      input,
      left.map(({ name, group }) => ({
        code: "NETVIRT_NODE_IN_MAINTENANCE",
        message: `Node ${name} of ${group} is in NETVIRT maintenance mode, in which upgrades pass it over.`,
        remediation: `Take ${name} out of NETVIRT maintenance mode in the NETVIRT manager (a restart of the node does not), then run the prechecks again.`,
        context: { node: name, group },
      })),
    );
  },
};
