import { perResource } from "./admission-rule";

/** `shutdownVms: true` is another way to say POWER_OFF_VMS; any other power action beside it contradicts it. */
export const powerActionConsistent = perResource(({ shutdownVms, hostosUpgradeOptionsSpec }, path) => {
  const action = hostosUpgradeOptionsSpec?.preRemediationPowerAction;
  if (shutdownVms !== true || action === undefined || action === "POWER_OFF_VMS") return [];
  return [
    {
      effect: "BAD_REQUEST",
      path: `${path}.shutdownVms`,
      code: "POWER_ACTION_CONTRADICTION",
      message: `shutdownVms true contradicts preRemediationPowerAction ${action}.`,
      remediation: "Leave out one of the two, or set preRemediationPowerAction to POWER_OFF_VMS.",
    },
  ];
});
