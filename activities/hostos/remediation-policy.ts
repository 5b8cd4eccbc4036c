import type { HostRemediationOptions } from "../../src/domain/host-remediation";
import type { RemediationPolicy } from "../contract";

/**
 * Our remediation policy of a cluster: what is configured now, with the options of the upgrade on top. The product's
 * own failure action is always FAIL, because retrying is Temporal's alone. Products from 9.1 keep two of the options
 * in `software_policy_spec` and refuse them in both places: what the product showed decides which place it is.
 */
export function remediationPolicy(previous: RemediationPolicy, options: HostRemediationOptions): RemediationPolicy {
  const { enforce_hcl_validation, enforce_quick_patch, software_policy_spec, ...kept } = previous;
  const { enforceHclValidation, enableQuickPatch } = options;
  const common = {
    ...kept,
    failure_action: { action: "FAIL" },
    ...optional("pre_remediation_power_action", options.preRemediationPowerAction),
    ...optional("enable_quick_boot", options.enableQuickboot),
    ...optional("disable_dpm", options.disableDpm),
    ...optional("disable_hac", options.disableHac),
    ...optional("evacuate_offline_vms", options.evacuateOfflineVms),
  };
  if (typeof software_policy_spec !== "object" || software_policy_spec === null) {
    return {
      ...common,
      ...optional("enforce_hcl_validation", enforceHclValidation ?? enforce_hcl_validation),
      ...optional("enforce_quick_patch", enableQuickPatch ?? enforce_quick_patch),
    };
  }
  const livePatch =
    enableQuickPatch === undefined
      ? undefined
      : { live_patch_mode: enableQuickPatch ? "ENFORCE_LIVE_PATCH" : "DISABLE_LIVE_PATCH" };
  return {
    ...common,
    ...(enforceHclValidation === undefined && optional("enforce_hcl_validation", enforce_hcl_validation)),
    ...(enableQuickPatch === undefined && optional("enforce_quick_patch", enforce_quick_patch)),
    software_policy_spec: {
      ...software_policy_spec,
      ...optional("enforce_hcl_validation", enforceHclValidation),
      ...optional("live_patch_action", livePatch),
    },
  };
}

/** A field that is left out where it has no value: the product then keeps or inherits its own. */
function optional(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}
