import type { HostRemediationOptions } from "../../src/domain/host-remediation";
import type { ClusterTarget, RemediationPolicy } from "../contract";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { Patience } from "../patience";
import { parallelRemediation, remediationPolicy } from "./remediation-policy";

/** What a cluster's policy is to become, and what it was. */
type PutRemediationPolicyInput = ClusterTarget & {
  readonly options: HostRemediationOptions;
  readonly previous: RemediationPolicy;
  /** Hosts that one remediation is to take at the same time; absent means 1. */
  readonly hostsAtOnce?: number;
};

/** Replaces a cluster's remediation policy by ours. */
export async function putRemediationPolicy(
  client: VlcmClient,
  patience: Patience,
  { cluster: { cluster }, options, previous, hostsAtOnce = 1 }: PutRemediationPolicyInput,
): Promise<void> {
  const effective = await patience.persist(() => client.readEffectivePolicy(cluster));
  const policy = remediationPolicy(previous, options, parallelRemediation(hostsAtOnce, effective));
  await patience.persist(() => client.putPolicy(cluster, policy));
}
