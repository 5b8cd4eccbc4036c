import { toEpochMilliseconds } from "./timestamp";
import type { ResourcePlan, UpgradePlan } from "./upgrade-plan";
import { inputTarget } from "./upgrade-scope";
import type { UpgradePhase } from "./upgrade-status";
import type { ResourceUpgradeSpec } from "./upgrade-spec";
import type { MgmtUpgradePatchSpec, UpgradeUpdateSpec } from "./upgrade-update";

/** How far a requested time may lie in the past: clocks of client and service differ (milliseconds). */
const clockSkew = 60_000;

/** The time fields that a resource of the request and a commit share. `upgradeNow: true` wins over the time. */
export type Schedule = Pick<ResourceUpgradeSpec, "scheduledTimestamp" | "upgradeNow">;

/** What a commit may say: one time for all resources, and times of switchovers. */
export type CommitSpec = Omit<UpgradeUpdateSpec, "markForCancellation">;

/** The time not before which the upgrade may run; absent means now. */
export function notBefore(schedule: Schedule): string | undefined {
  return schedule.upgradeNow === true ? undefined : schedule.scheduledTimestamp;
}

/** Whether a schedule asks for a time that has passed, beyond what clocks may differ. `now` in epoch milliseconds. */
export function isInThePast(schedule: Schedule, now: number): boolean {
  const at = notBefore(schedule);
  return at !== undefined && toEpochMilliseconds(at) < now - clockSkew;
}

/** Whether a schedule says "not now" and nothing of when: to begin at once would be the contrary of what was asked. */
export function lacksTime({ upgradeNow, scheduledTimestamp }: Schedule): boolean {
  return upgradeNow === false && scheduledTimestamp === undefined;
}

/** Whether a commit or reschedule says anything about time; one that does replaces every resource's own time. */
export function saysWhen(schedule: Schedule): boolean {
  return schedule.upgradeNow === true || schedule.scheduledTimestamp !== undefined;
}

/** Whether it commits; one that is only about switchovers changes their times and nothing else. */
export function commits(commit: CommitSpec): boolean {
  return saysWhen(commit) || commit.mgmtUpgradePatchSpecs === undefined;
}

/** Whether resources that have these times keep them where one time is given to all, or none is said. */
export function keepsTimes(known: readonly Schedule[], given: Schedule): boolean {
  if (!saysWhen(given)) return true;
  const moment = (schedule: Schedule) => {
    const at = notBefore(schedule);
    return at === undefined ? undefined : toEpochMilliseconds(at);
  };
  return known.every((schedule) => moment(schedule) === moment(given));
}

/** The time from which a resource may begin, in epoch milliseconds; 0 where it may begin at once. */
export function beginTime({ scheduledTimestamp }: Pick<ResourcePlan, "scheduledTimestamp">): number {
  return scheduledTimestamp === undefined ? 0 : toEpochMilliseconds(scheduledTimestamp);
}

/** The phase of an upgrade that has just been accepted: one of which nothing may begin yet is scheduled from the beginning. */
export function firstPhase({ draft, products, creationTimestamp }: UpgradePlan): UpgradePhase {
  if (draft) return "DRAFT_ACCEPTED";
  const times = products.flatMap(({ resources }) => resources.map(beginTime));
  return times.every((time) => time > toEpochMilliseconds(creationTimestamp)) ? "SCHEDULED" : "ACCEPTED";
}

/**
 * The plan with one time for all of its resources but those that have `begun`, in the request that it shows as well as in what
 * it does.
 */
export function reschedulePlan(
  plan: UpgradePlan,
  schedule: Schedule,
  begun: ReadonlySet<string> = new Set(),
): UpgradePlan {
  const moved = <T extends Schedule & { readonly resourceId: string }>(one: T, to: Unset<Schedule>): T =>
    begun.has(one.resourceId) ? one : withTime(one, to);
  return {
    ...plan,
    spec: { ...plan.spec, resourceUpgradeSpecs: plan.spec.resourceUpgradeSpecs.map((one) => moved(one, schedule)) },
    products: plan.products.map((product) => ({
      ...product,
      resources: product.resources.map((one) => moved(one, { scheduledTimestamp: notBefore(schedule) })),
    })),
  };
}

/** The plan with other times of switchovers, in the request that it shows as well as in what it does. */
export function rescheduleSwitchovers(plan: UpgradePlan, patches: readonly MgmtUpgradePatchSpec[]): UpgradePlan {
  const times = new Map(
    patches.map(({ resourceId, startSwitchoverTimestamp }) => [resourceId, startSwitchoverTimestamp]),
  );
  const servers = plan.products.flatMap(({ resources }) => resources.filter(({ kind }) => kind === "MGMT"));
  const moved = <T>(one: T, resourceId: string | undefined): T => {
    const startSwitchoverTimestamp = times.get(resourceId ?? "");
    return startSwitchoverTimestamp === undefined ? one : { ...one, startSwitchoverTimestamp };
  };
  const inputs = plan.spec.mgmtUpgradeUserInputSpecs?.map((input) =>
    moved(input, inputTarget(input.resourceId, servers)?.resourceId),
  );
  return {
    ...plan,
    spec: { ...plan.spec, ...(inputs && { mgmtUpgradeUserInputSpecs: inputs }) },
    products: plan.products.map((product) => ({
      ...product,
      resources: product.resources.map((one) => (one.kind === "MGMT" ? moved(one, one.resourceId) : one)),
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
