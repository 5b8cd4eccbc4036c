import { isDeepStrictEqual } from "node:util";
import { isLeft } from "fp-ts/Either";
import * as t from "io-ts";
import type { HostRemediationOptions } from "../../src/domain/host-remediation";
import { readClusterSettings, restoreClusterSettings, switchOffClusterSettings } from "../baseline/cluster-settings";
import type { ClusterTarget, PolicyChange, RecordedPolicy, RemediationPolicy } from "../contract";
import { DriverError } from "../drivers/driver-error";
import type { RetryPolicy } from "../retry-policy";
import type { ImageInterfaces } from "./image-context";
import { parallelRemediation, remediationPolicy } from "./remediation-policy";

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
    putBack(client, retryPolicy, target, policy),
  ]);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** What is put back is read once more: whatever stands before a component manager may have answered in its place. */
async function putBack(
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
    message: `${client.id} took the remediation policy of cluster ${name}, and shows another.`,
    remediation: "Compare the remediation policy in the component manager with what it was, and put it back by hand.",
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
