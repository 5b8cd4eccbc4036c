import type { ClusterTarget, PolicyChange } from "../contract";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { Patience } from "../patience";
import { parallelRemediation, remediationPolicy } from "./remediation-policy";

/** Replaces a cluster's remediation policy by ours. */
export async function putRemediationPolicy(
  client: VlcmClient,
  patience: Patience,
  { cluster: { cluster }, options, previous, effective, hostsAtOnce = 1 }: ClusterTarget & PolicyChange,
): Promise<void> {
  const policy = remediationPolicy(previous, options, parallelRemediation(hostsAtOnce, effective ?? {}, previous));
  await patience.change(() => client.putPolicy(cluster, policy));
}
