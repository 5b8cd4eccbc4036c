import { isDeepStrictEqual } from "node:util";
import { isLeft } from "fp-ts/Either";
import * as t from "io-ts";
import type { HostRemediationOptions } from "../../../src/domain/task/host-remediation";
import type { ClusterTarget, PolicyChange, RecordedPolicy, RemediationPolicy } from "../../contract";
import { DriverError } from "../../drivers/driver-error";
import type { RetryPolicy } from "../../retry-policy";
import { readClusterSettings, restoreClusterSettings, switchOffClusterSettings } from "../baseline/cluster-settings";
import type { ImageInterfaces } from "./image-context";

/**
 * What is recorded where the service carries out some of the options itself (`ownOptions`): the remediation policy, and
 * the cluster's HA admission control and power management. Otherwise it is the policy alone.
 */
const Recorded = t.type({ policy: t.UnknownRecord, settings: t.UnknownRecord });

type Interfaces = Pick<ImageInterfaces, "client" | "management">;

/** What {@link putPolicy} changes, as it is now. */
export async function readPolicy(
  { client, management }: Interfaces,
  retryPolicy: RetryPolicy,
  target: ClusterTarget,
): Promise<RecordedPolicy> {
  const { cluster } = target.cluster;
  const policy = await retryPolicy.retry(() => client.readPolicy(cluster));
  const effective = await retryPolicy.retry(() => client.readEffectivePolicy(cluster));
  if (!target.ownOptions) return { previous: policy, effective };
  return { previous: { policy, settings: await readClusterSettings(management, retryPolicy, target) }, effective };
}

/**
 * Replaces a cluster's remediation policy by ours. Options that the service carries out itself are switched on here, and
 * the policy asks for nothing of them any more.
 */
export async function putPolicy(
  { client, management }: Interfaces,
  retryPolicy: RetryPolicy,
  { previous, effective, hostsAtOnce = 1, options, ...target }: ClusterTarget & PolicyChange,
): Promise<void> {
  const { ownOptions, cluster } = target;
  const { policy, settings } = ownOptions ? recorded(previous) : { policy: previous };
  const asked = { ...options, ...asDone(ownOptions ?? {}) };
  const ours = remediationPolicy(policy, asked, parallelRemediation(hostsAtOnce, effective ?? {}, policy));
  await retryPolicy.retry(() => client.putPolicy(cluster.cluster, ours));
  if (settings)
    await switchOffClusterSettings(management, retryPolicy, {
      ...target,
      options: ownOptions ?? {},
      previous: settings,
    });
}

/** Puts back exactly what was read. */
export async function restorePolicy(
  { client, management }: Interfaces,
  retryPolicy: RetryPolicy,
  { previous, ...target }: ClusterTarget & { previous: RemediationPolicy },
): Promise<void> {
  const { ownOptions } = target;
  const { policy, settings } = ownOptions ? recorded(previous) : { policy: previous };
  // Neither is to wait for the other: what cannot be put back now is tried again for hours.
  const ends = await Promise.allSettled([
    settings &&
      restoreClusterSettings(management, retryPolicy, { ...target, options: ownOptions ?? {}, previous: settings }),
    putAndVerifyPolicy(client, retryPolicy, target, policy),
  ]);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** What is put back is read once more: whatever stands before a component manager may have answered in its place. */
async function putAndVerifyPolicy(
  client: Interfaces["client"],
  retryPolicy: RetryPolicy,
  { cluster: { cluster, name } }: ClusterTarget,
  policy: RemediationPolicy,
): Promise<void> {
  await retryPolicy.retry(() => client.putPolicy(cluster, policy));
  const now = await retryPolicy.retry(() => client.readPolicy(cluster));
  if (isDeepStrictEqual(now, policy)) return;
  throw new DriverError({
    kind: "transient",
    code: "CLUSTER_SETTINGS_NOT_CHANGED",
    message: `${client.id} accepted the remediation policy of cluster ${name}, but shows another.`,
    remediation:
      "Compare the remediation policy in the component manager with its previous values, and restore it manually.",
  });
}

function recorded(previous: RemediationPolicy): { policy: RemediationPolicy; settings?: RemediationPolicy } {
  const decoded = Recorded.decode(previous);
  if (isLeft(decoded)) throw new Error("What was recorded of the cluster is no policy with settings");
  return decoded.right;
}

/** What the remediation policy says of options that are carried out already, whatever the cluster is configured for. */
function asDone({ preRemediationPowerAction, disableHac, disableDpm }: HostRemediationOptions): HostRemediationOptions {
  return {
    ...(preRemediationPowerAction && { preRemediationPowerAction: "DO_NOT_CHANGE_VMS_POWER_STATE" }),
    ...(disableHac === true && { disableHac: false }),
    ...(disableDpm === true && { disableDpm: false }),
  };
}

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
