import { findingsOf } from "../precheck";
import type { BaselinePrecheck } from "./baseline-precheck";

/** Running virtual machines can leave each host, or are switched off; and no host is sent to sleep meanwhile. */
export const hostsCanBeEmptied: BaselinePrecheck = {
  type: "HOSTS_CAN_BE_EMPTIED",
  name: "Hosts can be emptied",
  description:
    "Virtual machines are switched off by the upgrade or moved without anybody's consent, and power management does not interfere.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { cluster, name } = target.cluster;
    const { preRemediationPowerAction, disableDpm } = target.options ?? {};
    const { settings } = await retryPolicy.retry(() => client.readCluster(cluster));
    const isOff = preRemediationPowerAction === "POWER_OFF_VMS" || preRemediationPowerAction === "SUSPEND_VMS";
    // Full automation is the product's default where it tells none.
    const moves = settings.drs?.enabled === true && ["", "fullyAutomated"].includes(settings.drs.automation);
    const vms = isOff ? [] : await retryPolicy.retry(() => client.listVms(cluster));
    const running = vms.filter(({ power }) => power === "poweredOn").length;
    const hosts = running > 0 ? await retryPolicy.retry(() => client.listHosts(cluster)) : [];
    return findingsOf(input, [
      ...(running > 0 && (!moves || hosts.length < 2)
        ? [
            {
              code: "HOSTS_CANNOT_BE_EMPTIED",
              message: `Cluster ${name} has ${running} running virtual machines, and ${hosts.length < 2 ? "no other host for them" : "DRS does not move them by itself"}.`,
              remediation:
                "Set DRS of the cluster to fully automated, or have the upgrade power off or suspend virtual machines (preRemediationPowerAction).",
            },
          ]
        : []),
      ...(settings.dpm === true && disableDpm !== true
        ? [
            {
              code: "DPM_ENABLED",
              message: `Distributed power management of cluster ${name} is on and may send hosts to sleep.`,
              remediation: "Set disableDpm for this cluster, or switch power management off, then try again.",
            },
          ]
        : []),
    ]);
  },
};
