import type { ClusterTarget, RemediateHostInput } from "../contract";
import { DriverError, isBusy } from "../drivers/driver-error";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { ClusterCompliance, HostSummary, TaskInfo } from "../drivers/vlcm/vlcm-models";
import { assessHost, type HostAssessment, scanCluster } from "../host-assessment";
import type { Patience } from "../patience";
import { startOf, verdictOfResult, type ApplyVerdict, worksOn } from "./apply-verdict";

/** What is true of the host now, whatever this or an earlier run believed. */
export type Finding =
  | { readonly found: "RUNNING"; readonly task: string }
  | { readonly found: "OTHER_OPERATION"; readonly task: string }
  | { readonly found: "ENDED"; readonly verdict: ApplyVerdict }
  | { readonly found: "AT_TARGET"; readonly version: string }
  | { readonly found: "AWAY"; readonly state: string }
  | { readonly found: "INCOMPATIBLE"; readonly reasons: readonly string[] }
  | { readonly found: "NOT_AT_TARGET" };

interface Search {
  readonly client: VlcmClient;
  readonly patience: Patience;
  readonly input: RemediateHostInput;
  /** Whether this Activity may have asked for a remediation of this host, in this run or an earlier one. */
  readonly mayHaveRequested: boolean;
  /** A remediation that began then or later is of this attempt; by the component manager's clock, in epoch milliseconds. */
  readonly since: number | undefined;
}

/**
 * Finds out how far the remediation of a host is, from the component manager alone: a running task, then the last
 * result, then the host itself. Needed at the beginning, after a crash, after a lost answer, and when a task was
 * forgotten, because none of them tells whether a remediation is on its way.
 */
export async function findRemediation(search: Search): Promise<Finding> {
  const { client, patience, input, mayHaveRequested, since } = search;
  const { cluster } = input.cluster;
  const { host } = input.host;

  const tasks = await patience.persist(() => client.listUnfinishedTasks(cluster));
  const remediation = [...tasks].find(([, task]) => isApply(task));
  if (remediation) {
    const [task, info] = remediation;
    const isOurs = mayHaveRequested && worksOn(info, host) !== false;
    return isOurs ? { found: "RUNNING", task } : { found: "OTHER_OPERATION", task };
  }

  if (since !== undefined) {
    const last = await patience.persist(() => client.readLastApplyResult(cluster));
    const verdict = last && verdictOfResult(last, host);
    const began = last && startOf(last, host);
    if (
      verdict &&
      began !== undefined &&
      began >= since &&
      (verdict.verdict === "OK" || verdict.verdict === "FAILED")
    ) {
      return { found: "ENDED", verdict };
    }
  }

  const state = await connectionState(client, patience, cluster, host);
  if (state !== "CONNECTED") return { found: "AWAY", state };

  const assessed = await assessNow(client, patience, input, mayHaveRequested);
  if (assessed.atTarget) return { found: "AT_TARGET", version: assessed.version };
  const cannot = assessed.conclusive && assessed.compliance === "INCOMPATIBLE";
  return cannot ? { found: "INCOMPATIBLE", reasons: assessed.reasons } : { found: "NOT_AT_TARGET" };
}

/** The host's connection to the component manager; `MISSING` where the cluster does not have it. */
export async function connectionState(
  client: VlcmClient,
  patience: Patience,
  cluster: string,
  host: string,
): Promise<string> {
  return stateAmong(await patience.persist(() => client.listHosts(cluster)), host);
}

/** The same of a host among those that the component manager has listed for its cluster. */
export function stateAmong(listed: readonly HostSummary[], host: string): string {
  return listed.find((candidate) => candidate.host === host)?.connection_state ?? "MISSING";
}

/**
 * The host against the target. The last scan decides where it says yes, or says no and nothing has happened since;
 * otherwise a new scan does. `changed` says that something may have happened. That a host cannot take the target is
 * always found out anew, because somebody may have mended it.
 */
export async function assessNow(
  client: VlcmClient,
  patience: Patience,
  { host: { host }, ...target }: RemediateHostInput,
  changed: boolean,
): Promise<HostAssessment> {
  const [assessed] = await assessHosts(client, patience, target, [host], changed);
  return assessed ?? assessHost(undefined, host, target);
}

/** The same for several hosts of a cluster, in their order, with one scan at most. */
export async function assessHosts(
  client: VlcmClient,
  patience: Patience,
  target: ClusterTarget,
  hosts: readonly string[],
  changed: boolean,
): Promise<HostAssessment[]> {
  const { cluster } = target.cluster;
  const assess = (scanned: ClusterCompliance | undefined) => hosts.map((host) => assessHost(scanned, host, target));
  const last = assess(await patience.persist(() => client.readCompliance(cluster)));
  const isKnown = ({ atTarget, conclusive, compliance }: HostAssessment) =>
    atTarget || (conclusive && !changed && compliance !== "INCOMPATIBLE");
  if (last.every(isKnown)) return last;
  try {
    return assess(await scanCluster(client, patience, cluster));
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
