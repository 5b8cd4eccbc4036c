import { toEpochMilliseconds } from "./timestamp";
import type { ResourcePlan, UpgradePlan } from "./upgrade-plan";
import type { ResourceUpgradeSpec } from "./upgrade-spec";

/** How far a requested time may lie in the past: clocks of client and service differ (milliseconds). */
const clockSkew = 60_000;

/** The time fields that a resource of the request and a commit share. `upgradeNow: true` wins over the time. */
export type Schedule = Pick<ResourceUpgradeSpec, "scheduledTimestamp" | "upgradeNow">;

/** The time not before which the upgrade may run; absent means now. */
export function notBefore(schedule: Schedule): string | undefined {
  return schedule.upgradeNow === true ? undefined : schedule.scheduledTimestamp;
}

/** Whether a schedule asks for a time that has passed, beyond what clocks may differ. `now` in epoch milliseconds. */
export function isInThePast(schedule: Schedule, now: number): boolean {
  const at = notBefore(schedule);
  return at !== undefined && toEpochMilliseconds(at) < now - clockSkew;
}

/** Whether a commit or reschedule says anything about time; one that does replaces every resource's own time. */
export function saysWhen(schedule: Schedule): boolean {
  return schedule.upgradeNow === true || schedule.scheduledTimestamp !== undefined;
}

/** The time from which a resource may begin, in epoch milliseconds; 0 where it may begin at once. */
export function beginTime({ scheduledTimestamp }: Pick<ResourcePlan, "scheduledTimestamp">): number {
  return scheduledTimestamp === undefined ? 0 : toEpochMilliseconds(scheduledTimestamp);
}

/** The plan with one time for all of its resources, in the request that it shows as well as in what it does. */
export function reschedulePlan(plan: UpgradePlan, schedule: Schedule): UpgradePlan {
  return {
    ...plan,
    spec: { ...plan.spec, resourceUpgradeSpecs: plan.spec.resourceUpgradeSpecs.map((r) => withTime(r, schedule)) },
    products: plan.products.map((product) => ({
      ...product,
      resources: product.resources.map((resource) => withTime(resource, { scheduledTimestamp: notBefore(schedule) })),
    })),
  };
}

function withTime<T extends Schedule>(timed: T, { scheduledTimestamp, upgradeNow }: Unset<Schedule>): T {
  const { scheduledTimestamp: _before, upgradeNow: _given, ...rest } = timed;
  return {
    ...rest,
    ...(scheduledTimestamp !== undefined && { scheduledTimestamp }),
    ...(upgradeNow !== undefined && { upgradeNow }),
  } as T;
}

type Unset<T> = { [K in keyof T]: T[K] | undefined };
