import type { ClusterTarget } from "../contract";
import { DriverError, isBusy } from "../drivers/driver-error";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { ClusterCompliance, HostSummary, TaskInfo } from "../drivers/vlcm/vlcm-models";
import { assessHost, type HostAssessment, scanCluster } from "../host-assessment";
import type { RetryPolicy } from "../retry-policy";

/** A host's connection by what the component manager has listed of its cluster; `MISSING` where it is not there. */
export function stateAmong(listed: readonly HostSummary[], host: string): string {
  return listed.find((candidate) => candidate.host === host)?.connection_state ?? "MISSING";
}

/**
 * Hosts of a cluster against the target, in their order, with one scan at most. The last scan decides where it says yes, or
 * says no and nothing has happened since; otherwise a new scan does. `changed` says that something may have happened.
 * That a host cannot take the target is always found out anew, because somebody may have mended it.
 */
export async function assessHosts(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  target: ClusterTarget,
  hosts: readonly string[],
  changed: boolean,
): Promise<HostAssessment[]> {
  const { cluster } = target.cluster;
  const assess = (scanned: ClusterCompliance | undefined) => hosts.map((host) => assessHost(scanned, host, target));
  const last = assess(await retryPolicy.retry(() => client.readCompliance(cluster)));
  const isKnown = ({ atTarget, conclusive, compliance }: HostAssessment) =>
    atTarget || (conclusive && !changed && compliance !== "INCOMPATIBLE");
  if (last.every(isKnown)) return last;
  try {
    return assess(await scanCluster(client, retryPolicy, cluster));
  } catch (error) {
    // The cluster has been at work on something else for too long: the last scan is all there is.
    if (error instanceof DriverError && isBusy(error)) return last;
    throw error;
  }
}

/** Whether a task is a remediation. */
export function isApply({ operation }: TaskInfo): boolean {
  return /(^|[.:])apply(\$task)?$/.test(operation);
}
