import { isSameVersion } from "../../../src/domain/version";
import { completeCheck } from "../../complete-task";
import type { ClusterTarget } from "../../contract";
import { DriverError, isBusy } from "../../drivers/driver-error";
import type { VlcmClient } from "../../drivers/vlcm/vlcm-client";
import { type ClusterCompliance, type HostSummary, type TaskInfo, textsOf } from "../../drivers/vlcm/vlcm-models";
import type { RetryPolicy } from "../../retry-policy";
import { isJudgedBy, type TargetImage } from "./target-image";

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

/** A host against the image that it is to have. */
interface HostAssessment {
  /** Its base image; empty where the component manager does not know it. */
  readonly version: string;
  /** The manager's word: COMPLIANT, NON_COMPLIANT, INCOMPATIBLE, UNAVAILABLE; empty where there is none. */
  readonly compliance: string;
  readonly atTarget: boolean;
  /** False where the scan is older than the desired image, did not reach the host, or contradicts itself. */
  readonly conclusive: boolean;
  /** What the manager says of an INCOMPATIBLE host, in its own words. */
  readonly reasons: readonly string[];
}

/** Judges one host by the last scan of its cluster. Compliance counts only against the target, not another image. */
export function assessHost(scanned: ClusterCompliance | undefined, host: string, target: TargetImage): HostAssessment {
  const found = scanned?.hosts[host];
  if (!found) return { version: "", compliance: "", atTarget: false, conclusive: false, reasons: [] };
  const version = found.base_image.current.version;
  const judgedByTarget = isJudgedBy(found, target);
  const hasVersion = isSameVersion(version, target.targetVersion);
  const atTarget = judgedByTarget && hasVersion && found.status === "COMPLIANT";
  const known = ["COMPLIANT", "NON_COMPLIANT", "INCOMPATIBLE"].includes(found.status);
  const contradiction = found.status === "COMPLIANT" && !hasVersion;
  return {
    version,
    compliance: found.status,
    atTarget,
    conclusive: judgedByTarget && known && !contradiction,
    reasons: textsOf(found.notifications?.errors),
  };
}

/** Has a cluster scanned and gives the result. */
export async function scanCluster(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  cluster: string,
): Promise<ClusterCompliance | undefined> {
  await completeCheck(client, retryPolicy, () => client.scan(cluster));
  return retryPolicy.retry(() => client.readCompliance(cluster));
}

/** Whether a scan tells of all of these hosts. */
function knowsAll(scanned: ClusterCompliance | undefined, hosts: readonly string[]): scanned is ClusterCompliance {
  return scanned !== undefined && hosts.every((host) => scanned.hosts[host]);
}

/** The last scan if it knows all of the hosts, else a new one; the last one too where a scan is not possible now. */
export async function readFullCompliance(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  cluster: string,
  hosts: readonly string[],
): Promise<ClusterCompliance | undefined> {
  const last = await retryPolicy.retry(() => client.readCompliance(cluster));
  if (knowsAll(last, hosts)) return last;
  try {
    return await scanCluster(client, retryPolicy, cluster);
  } catch (error) {
    const impossible = error instanceof DriverError && (isBusy(error) || error.code === "COMPONENT_MANAGER_REFUSED");
    if (impossible) return last;
    throw error;
  }
}
