import { log, workflowInfo } from "@temporalio/workflow";
import type { ErrorBody } from "../../src/domain/errors";
import { type ResourcePlan, resourcesOf, type UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import type { Stage } from "../../src/domain/spec/task";
import { hasEnded, statusOfPhase, type UpgradePhase } from "../../src/domain/spec/upgrade";
import type { HostCounts } from "../../src/domain/task/sub-task";
import { toTimestamp } from "../../src/domain/timestamp";
import { stopwatch } from "../clock";

/** Of many errors or resources so many are told in one line; the Task has all. */
const loggedAtMost = 5;

/** What a line tells of a phase beside its name. */
interface LoggedPhase {
  readonly plan: UpgradePlan;
  readonly phase: UpgradePhase;
  readonly errors: readonly ErrorBody[];
  readonly errorCodes: readonly string[];
  readonly failedPrechecks: readonly ErrorBody[];
  /** When the first of the resources begins (epoch milliseconds), where it lies ahead. */
  readonly nextTime: number | undefined;
  readonly hosts: readonly HostCounts[];
}

/** The first line of an upgrade's story: what is to be upgraded, to what, and for whom. */
export function tellBeginning(plan: UpgradePlan): void {
  const resources = resourcesOf(plan);
  log.info("Upgrade started", {
    requestedBy: workflowInfo().memo?.["requestedBy"],
    draft: plan.draft,
    bundle: plan.bundle.id,
    resources: resources.length,
    targets: resources.slice(0, loggedAtMost).map(({ name, targetVersion }) => `${name} to ${targetVersion}`),
  });
}

/** The upgrade has entered a phase: why, what it waits for, and at an end how long it took and what became of its hosts. */
export function tellPhase({ plan, phase, errors, errorCodes, failedPrechecks, nextTime, hosts }: LoggedPhase): void {
  log.info("Upgrade entered a phase", {
    phase,
    status: statusOfPhase(phase).upgrade,
    ...(errors.length > 0 && { errorCodes, errors: errors.slice(0, loggedAtMost).map(({ message }) => message) }),
    ...(phase === "DRAFT_WAITING" && { prechecks: failedPrechecks.length > 0 ? "FAILED" : "PASSED" }),
    ...(phase === "SCHEDULED" && nextTime !== undefined && { until: toTimestamp(nextTime) }),
    ...(hasEnded(phase) && {
      seconds: stopwatch(Date.parse(plan.creationTimestamp))(),
      hosts: hosts.reduce(added, { total: 0, upgraded: 0, skipped: 0, failed: 0, left: 0 }),
    }),
  });
}

/** One line for each precheck of a resource that has not passed. */
export function tellPrechecks({ resourceId, name }: ResourcePlan, stages: readonly Stage[]): void {
  for (const { type, status, errors } of stages) {
    if (status !== "FAILED") continue;
    const [error] = errors ?? [];
    log.info("Precheck failed", {
      resourceId,
      resource: name,
      precheck: type,
      errorCode: error?.errorCode,
      reason: error?.message,
    });
  }
}

function added(a: HostCounts, b: HostCounts): HostCounts {
  return {
    total: a.total + b.total,
    upgraded: a.upgraded + b.upgraded,
    skipped: a.skipped + b.skipped,
    failed: a.failed + b.failed,
    left: a.left + b.left,
  };
}
