import { isSameVersion } from "../src/domain/version";
import { completeCheck } from "./complete-task";
import { DriverError, isBusy } from "./drivers/driver-error";
import type { VlcmClient } from "./drivers/vlcm/vlcm-client";
import { textsOf, type ClusterCompliance } from "./drivers/vlcm/vlcm-models";
import type { RetryPolicy } from "./retry-policy";
import { isJudgedBy, type TargetImage } from "./target-image";

/** A host against the image that it is to have. */
export interface HostAssessment {
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
