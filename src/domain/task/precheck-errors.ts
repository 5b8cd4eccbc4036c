import type { ErrorBody } from "../errors";
import type { ResourcePlan } from "../plan/upgrade-plan";
import type { Finding } from "../spec/finding";
import type { Task } from "../spec/task";
import { isAcknowledged, latestPrechecks } from "./findings";
import { resourceTitle } from "./resource-progress";

/** A resource that its latest prechecks keep from being upgraded, and why. */
export interface FailedPrechecks {
  readonly resource: ResourcePlan;
  readonly error: ErrorBody;
}

/** Of these resources those whose latest prechecks have failed. */
export function failedPrechecks(task: Task, resources: readonly ResourcePlan[]): readonly FailedPrechecks[] {
  const latest = new Map(latestPrechecks(task).map(({ resourceId, part }) => [resourceId, part]));
  return resources.flatMap((resource) => {
    const part = latest.get(resource.resourceId);
    if (part?.status !== "FAILED") return [];
    return [{ resource, error: precheckError(resource, part.errors ?? []) }];
  });
}

function precheckError(resource: ResourcePlan, nestedErrors: readonly ErrorBody[]): ErrorBody {
  // Checks that could not run for want of another one say nothing that the one does not.
  const found = nestedErrors.filter(({ errorCode }) => errorCode !== "PRECHECK_NOT_RUN");
  const told = found.length > 0 ? found : nestedErrors;
  return {
    errorCode: "PRECHECKS_FAILED",
    errorType: "PRECHECK",
    message: `${resourceTitle(resource)} cannot be upgraded: ${told.map((error) => error.message).join(" ")}`,
    remediationMessage: told[0]?.remediationMessage ?? "Fix what the failed checks name, then try again.",
    context: { resourceId: resource.resourceId },
    nestedErrors: [...nestedErrors],
  };
}

/** Warnings that one error tells; the Task has all. */
const toldWarnings = 3;

/** Warnings of the latest prechecks of these resources that nobody has acknowledged, one error for each resource. */
export function precheckWarnings(task: Task, resources: readonly ResourcePlan[], now: number): readonly ErrorBody[] {
  const latest = new Map(latestPrechecks(task).map(({ resourceId, part }) => [resourceId, part]));
  return resources.flatMap((resource) => {
    const { stages = [] } = latest.get(resource.resourceId) ?? {};
    const warnings = stages
      .flatMap(({ findings = [] }) => findings)
      .filter((finding) => finding.severity === "WARNING" && !isAcknowledged(finding, now));
    return warnings.length === 0 ? [] : [warningsOf(resource, warnings)];
  });
}

function warningsOf(resource: ResourcePlan, warnings: readonly Finding[]): ErrorBody {
  const messages = warnings.slice(0, toldWarnings).map(({ message }) => message);
  const more = warnings.length - messages.length;
  return {
    errorCode: "PRECHECK_WARNINGS",
    errorType: "PRECHECK",
    message: `${resourceTitle(resource)} was upgraded with warnings of its prechecks: ${messages.join(" ")}${more > 0 ? ` And ${more} more.` : ""}`,
    remediationMessage: "Check what the warnings name. Acknowledge those that you accept before the next upgrade.",
    context: { resourceId: resource.resourceId },
  };
}
