import type { HostRemediationOptions } from "../../src/domain/host-remediation";
import type { RemediationPolicy } from "../contract";

/** Whether, and for how many hosts at the same time, the product remediates those that are in maintenance mode. */
interface ParallelRemediation {
  readonly enabled: boolean;
  readonly max_hosts?: number;
}

/**
 * What the policy has to say of parallel remediation, so that a remediation does what the upgrade means: with it the
 * product skips every host that is not in maintenance mode yet. Undefined where it may stay as it is; `effective` is
 * what holds now, also where it comes from the default of all clusters. `previous` is the policy that ours is made from: an
 * earlier run that was lost may have switched off by now what is on in it.
 */
export function parallelRemediation(
  hostsAtOnce: number,
  effective: RemediationPolicy,
  previous: RemediationPolicy = {},
): ParallelRemediation | undefined {
  if (hostsAtOnce > 1) return { enabled: true, max_hosts: hostsAtOnce };
  return isParallel(effective) || isParallel(previous) ? { enabled: false } : undefined;
}

function isParallel({ software_policy_spec: inner, parallel_remediation_action: outer }: RemediationPolicy): boolean {
  const actions = [
    outer,
    (inner as { parallel_remediation_action?: unknown } | undefined)?.parallel_remediation_action,
  ];
  return actions.some((action) => (action as { enabled?: unknown } | undefined)?.enabled === true);
}

/**
 * Our remediation policy of a cluster: what is configured now, with the options of the upgrade on top. The product's
 * own failure action is always FAIL, because retrying is Temporal's alone. Products from 9.1 keep some of the options
 * in `software_policy_spec` and refuse them in both places: what the product showed decides which place it is.
 */
export function remediationPolicy(
  previous: RemediationPolicy,
  options: HostRemediationOptions,
  parallel?: ParallelRemediation,
): RemediationPolicy {
  const { enforce_hcl_validation, enforce_quick_patch, software_policy_spec, ...rest } = previous;
  const { parallel_remediation_action, ...others } = rest;
  const kept = parallel ? others : rest;
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
      ...optional("parallel_remediation_action", parallel ?? parallel_remediation_action),
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
      ...optional("parallel_remediation_action", parallel),
    },
  };
}

/** A field that is left out where it has no value: the product then keeps or inherits its own. */
function optional(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}
