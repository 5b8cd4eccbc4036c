import type { ReportedCode } from "../../src/domain/errors";
import { isSameVersion } from "../../src/domain/version";
import type { ClusterTarget } from "../contract";
import { DriverError } from "../drivers/driver-error";
import type { TaskInfo } from "../drivers/vlcm/vlcm-models";
import { describeImage } from "./image/target-image";

/** Somebody else's operation on the cluster has not ended in time. */
export function otherOperation(managerId: string, task: string): DriverError {
  return new DriverError({
    kind: "transient",
    code: "CLUSTER_BUSY",
    message: `Task ${task} of ${managerId} is still running on the cluster.`,
    remediation: "Wait for that task to end, or cancel it in the component manager, then retry the upgrade.",
  });
}

/** The cluster would be brought to another image than the one this upgrade is about. */
export function desiredImageChanged(target: ClusterTarget, desired: string): DriverError {
  const wanted = describeImage(target);
  const is = isSameVersion(desired, target.targetVersion) ? `${desired} with other add-ons or components` : desired;
  return new DriverError({
    kind: "permanent",
    code: "DESIRED_IMAGE_CHANGED",
    message: `The desired image of cluster ${target.cluster.name} is ${is} and no longer ${wanted}.`,
    remediation: "Find out who changed the cluster's image in the component manager, then retry the upgrade.",
  });
}

/** The component manager takes requests and does nothing. */
export function noTrace(fqdn: string, requests: number): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "REMEDIATION_NOT_STARTED",
    message: `The remediation of ${fqdn} was requested ${requests} times without any effect.`,
    remediation: "Check the component manager's log for the requests, then retry the upgrade.",
  });
}

/** What is wrong with a host that made no progress, without a full stop; `ended` is its task, where that has ended after it was cancelled. */
export function stalledFor(task: string, ended: TaskInfo | undefined): string {
  return ended ? "made no progress" : `made no progress, and its task ${task} continues although it was cancelled`;
}

/** A failure of one host that the component manager reports: it counts against the host's attempts. */
export class HostFailure extends Error {
  /** `what` is wrong, a sentence that goes on after the host's name; `causes` are the component manager's own words. */
  constructor(
    readonly code: ReportedCode,
    readonly what: string,
    readonly causes: readonly string[] = [],
  ) {
    super(what);
  }
}

/** Whoever put the host into maintenance mode wants it there; taking it out is not ours. */
export const heldByOthers = new HostFailure(
  "HOST_IN_MAINTENANCE_MODE",
  "is in maintenance mode, but not because of this upgrade.",
);

/** The cluster does not list the host any more. */
export const leftCluster = new HostFailure("HOST_LEFT_CLUSTER", "has left its cluster.");

/** `what` goes on after the host's name, without a full stop: the first of the causes follows it. */
export function hostFailure(code: ReportedCode, what: string, causes: readonly string[] = []): HostFailure {
  return new HostFailure(code, causes[0] ? `${what}: ${causes[0]}` : `${what}.`, causes);
}
