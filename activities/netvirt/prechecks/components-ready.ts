import { netvirtComponentOrder } from "../../../src/domain/netvirt-upgrade";
import { findingsOf, type NetvirtPrecheck } from "./netvirt-precheck";

const active: ReadonlySet<string> = new Set(["IN_PROGRESS", "PAUSING"]);

/** The coordinator knows every component that is to be upgraded, and nobody's upgrade runs. */
export const componentsReady: NetvirtPrecheck = {
  type: "NETVIRT_COMPONENTS_READY",
  name: "Components ready",
  description: "The upgrade coordinator lists the components to upgrade, and no upgrade runs.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { component_status, overall_upgrade_status } = await retryPolicy.retry(() => client.readStatus());
    const running = component_status.filter(({ status }) => active.has(status));
    if (running.length > 0 || active.has(overall_upgrade_status)) {
      const what = running.map(({ component_type }) => component_type).join(", ") || "its upgrade";
      return findingsOf(input, [
        {
          code: "NETVIRT_UPGRADE_RUNNING",
          message: `The upgrade coordinator of ${target.netvirt.name} is at work (${what}).`,
          remediation: "Wait for that upgrade to end or pause it in the coordinator, then run the prechecks again.",
        },
      ]);
    }
    const listed = new Set(component_status.map(({ component_type }) => component_type));
    const missing = netvirtComponentOrder(target.targetVersion, target.options.edgeOnly).filter(
      (component) => !listed.has(component),
    );
    return findingsOf(
      input,
      missing.map((component) => ({
        code: "NETVIRT_COMPONENT_MISSING",
        message: `The upgrade coordinator of ${target.netvirt.name} does not list component ${component}.`,
        remediation: "Check that the coordinator is upgraded and has the bundle of the target version.",
        context: { component },
      })),
    );
  },
};
