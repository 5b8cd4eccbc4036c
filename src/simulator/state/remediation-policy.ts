import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { IntegerBetween, model, OneOf } from "../../domain/codec";
import { decodeStrictly } from "../config/decode-strictly";

const maximumSeconds = 31_536_000;

/** How hosts of a cluster are remediated, with the product's own field names. Every field may be left to the default. */
export const RemediationPolicy = model(
  {},
  {
    failure_action: model(
      { action: OneOf("FAIL", "RETRY") },
      { retry_delay: IntegerBetween(0, maximumSeconds, "seconds"), retry_count: IntegerBetween(0, 1000) },
    ),
    pre_remediation_power_action: OneOf(
      "POWER_OFF_VMS",
      "SUSPEND_VMS",
      "DO_NOT_CHANGE_VMS_POWER_STATE",
      "SUSPEND_VMS_TO_MEMORY",
    ),
    enable_quick_boot: t.boolean,
    disable_dpm: t.boolean,
    disable_hac: t.boolean,
    evacuate_offline_vms: t.boolean,
    enforce_hcl_validation: t.boolean,
    enforce_quick_patch: t.boolean,
    parallel_remediation_action: model({ enabled: t.boolean }, { max_hosts: IntegerBetween(1, 96, "hosts") }),
    software_policy_spec: model(
      {},
      {
        enforce_hcl_validation: t.boolean,
        parallel_remediation_action: model({ enabled: t.boolean }, { max_hosts: IntegerBetween(1, 96, "hosts") }),
        live_patch_action: model(
          { live_patch_mode: OneOf("DISABLE_LIVE_PATCH", "AUTO_LIVE_PATCH", "ENFORCE_LIVE_PATCH") },
          {},
        ),
        skip_reserved_vibs_caching: t.boolean,
      },
    ),
    config_manager_policy_spec: model({}, { serial_remediation: t.boolean, auto_remediate_on_host_add: t.boolean }),
  },
);
export type RemediationPolicy = t.TypeOf<typeof RemediationPolicy>;

/** A policy in which everything is decided. */
export type EffectivePolicy = RemediationPolicy &
  Required<
    Pick<
      RemediationPolicy,
      | "failure_action"
      | "pre_remediation_power_action"
      | "enable_quick_boot"
      | "disable_dpm"
      | "disable_hac"
      | "evacuate_offline_vms"
    >
  >;

/** What holds where neither the cluster nor the default of all clusters says anything (docs/simulator.md). */
const builtIn: EffectivePolicy = {
  failure_action: { action: "RETRY", retry_delay: 300, retry_count: 3 },
  pre_remediation_power_action: "DO_NOT_CHANGE_VMS_POWER_STATE",
  enable_quick_boot: false,
  disable_dpm: false,
  disable_hac: false,
  evacuate_offline_vms: false,
  enforce_hcl_validation: false,
  parallel_remediation_action: { enabled: false },
};

/** The cluster's policy over the default of all clusters over what is built in, field by field. */
export function effectivePolicy(defaults: RemediationPolicy, configured: RemediationPolicy = {}): EffectivePolicy {
  return { ...builtIn, ...defaults, ...configured };
}

/** Whether hardware that is not on the compatibility list stops a remediation. Newer products keep it elsewhere. */
export function enforcesHardwareCompatibility(policy: RemediationPolicy): boolean {
  return policy.software_policy_spec?.enforce_hcl_validation ?? policy.enforce_hcl_validation ?? false;
}

/** How live patches are applied: never, where the image can be, or only so. */
export function livePatchMode(policy: RemediationPolicy): "DISABLE" | "AUTO" | "ENFORCE" {
  switch (policy.software_policy_spec?.live_patch_action?.live_patch_mode) {
    case "ENFORCE_LIVE_PATCH":
      return "ENFORCE";
    case "AUTO_LIVE_PATCH":
      return "AUTO";
    case "DISABLE_LIVE_PATCH":
      return "DISABLE";
    case undefined:
      return policy.enforce_quick_patch === true ? "ENFORCE" : "DISABLE";
  }
}

/** How many hosts are remediated at the same time; undefined where they are one after another. */
export function parallelHosts(policy: RemediationPolicy): number | undefined {
  const action = policy.software_policy_spec?.parallel_remediation_action ?? policy.parallel_remediation_action;
  // The product's own number is published nowhere; all of them is the most that it takes.
  return action?.enabled ? (action.max_hosts ?? 96) : undefined;
}

/** Decodes a policy and checks what its codec cannot: the tagged union and fields that exclude each other. */
export function decodePolicy(input: unknown): E.Either<string[], RemediationPolicy> {
  const decoded = decodeStrictly(RemediationPolicy, input);
  if (E.isLeft(decoded)) return decoded;
  const policy = decoded.right;
  const problems: string[] = [];
  for (const field of ["retry_delay", "retry_count"] as const) {
    const isSet = policy.failure_action?.[field] !== undefined;
    if (policy.failure_action?.action === "RETRY" && !isSet)
      problems.push(`failure_action.${field}: is required where the action is RETRY`);
    if (policy.failure_action?.action === "FAIL" && isSet)
      problems.push(`failure_action.${field}: must not be set where the action is FAIL`);
  }
  if (policy.enforce_quick_patch !== undefined && policy.software_policy_spec?.live_patch_action)
    problems.push("enforce_quick_patch: must not be set together with software_policy_spec.live_patch_action");
  return problems.length > 0 ? E.left(problems) : decoded;
}
