import type { ErrorBody } from "../errors";
import { nameAndId } from "../names";
import { changeRecordOf } from "../spec/change-record";
import { overrideOf } from "../spec/maintenance-override";
import type { SubTask } from "../spec/task";
import { hasEnded, statusOfPhase, type Upgrade, type UpgradePhase } from "../spec/upgrade";
import type { MgmtUpgradePatchSpec, ResourceUpgradeSpec, UpgradeUpdateSpec } from "../spec/upgrade-spec";
import { toEpochMilliseconds, toTimestamp } from "../timestamp";
import { overrideMaintenance } from "./maintenance-override";
import { inputTarget } from "./scope";
import type { MgmtUpgradePlan, ResourcePlan, UpgradePlan } from "./upgrade-plan";

/** How far a requested time may lie in the past: clocks of client and service differ (milliseconds). */
const clockSkew = 60_000;

/** The time fields that a resource of the request and a commit share. `upgradeNow: true` wins over the time. */
export type Schedule = Pick<ResourceUpgradeSpec, "scheduledTimestamp" | "upgradeNow">;

/** What a commit may say: one time for all resources, times of switchovers, and that it waits for no maintenance window. */
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
  const { mgmtUpgradePatchSpecs, maintenanceWindow } = commit;
  return saysWhen(commit) || maintenanceWindow !== undefined || mgmtUpgradePatchSpecs === undefined;
}

/** Whether it says nothing but that maintenance windows are ignored. */
export function overridesOnly(commit: CommitSpec): boolean {
  return commit.maintenanceWindow !== undefined && !saysWhen(commit) && commit.mgmtUpgradePatchSpecs === undefined;
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

/** Whether an upgrade of resources with these times holds no locks yet at this time (epoch milliseconds). */
export function locksLater(schedules: readonly Schedule[], lockLeadMinutes: number, now: number): boolean {
  const begins = schedules.map((schedule) => {
    const at = notBefore(schedule);
    return at === undefined ? 0 : toEpochMilliseconds(at);
  });
  return Math.min(...begins) > now + lockLeadMinutes * 60_000;
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

/**
 * A plan as it was started, with the times and the override that its upgrade has now. A server begins with the first of the clusters, as
 * when it was planned.
 */
export function withTimesOf(
  plan: UpgradePlan,
  {
    resourceUpgradeSpecs: specs = plan.spec.resourceUpgradeSpecs,
    mgmtUpgradeUserInputSpecs: inputs = [],
    maintenanceOverride,
  }: Upgrade,
): UpgradePlan {
  const times = new Map(specs.map((one) => [one.resourceId, notBefore(one)]));
  const [first] = [...times.values()]
    .map((scheduledTimestamp) => timed(scheduledTimestamp))
    .sort((a, b) => beginTime(a) - beginTime(b));
  const begins = ({ kind, resourceId }: ResourcePlan) =>
    kind === "NETVIRT" || kind === "MGMT" ? first?.scheduledTimestamp : times.get(resourceId);
  const servers = plan.products.flatMap(({ resources }) => resources.filter(({ kind }) => kind === "MGMT"));
  const switchovers = inputs.flatMap(({ resourceId: named, startSwitchoverTimestamp }) => {
    const { resourceId } = inputTarget(named, servers) ?? {};
    return resourceId === undefined || startSwitchoverTimestamp === undefined
      ? []
      : [{ resourceId, startSwitchoverTimestamp }];
  });
  const known: UpgradePlan = {
    ...plan,
    spec: { ...plan.spec, resourceUpgradeSpecs: [...specs] },
    products: plan.products.map((product) => ({
      ...product,
      resources: product.resources.map((one) =>
        withTime(one, { scheduledTimestamp: begins(one), upgradeNow: undefined }),
      ),
    })),
  };
  const moved = rescheduleSwitchovers(known, switchovers);
  return maintenanceOverride ? overrideMaintenance(moved, maintenanceOverride) : moved;
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

/** What is wrong with the time that a commit gives all resources. `now` in epoch milliseconds. */
export function scheduleProblem(commit: Schedule, now: number): ErrorBody | undefined {
  if (isInThePast(commit, now)) {
    return wrong(
      "scheduledTimestamp",
      "SCHEDULE_IN_THE_PAST",
      `The scheduled time ${commit.scheduledTimestamp ?? ""} has passed.`,
      "Commit with a time in the future, or with upgradeNow true.",
    );
  }
  if (lacksTime(commit)) {
    return wrong(
      "upgradeNow",
      "SCHEDULE_MISSING",
      "upgradeNow is false, and scheduledTimestamp is missing.",
      "Add a scheduledTimestamp, or remove upgradeNow for a plain commit.",
    );
  }
  return undefined;
}

/** Where a management server of an upgrade stands, as far as the time of its switchover depends on it. */
export interface ServerStanding extends Pick<
  MgmtUpgradePlan,
  "resourceId" | "name" | "mechanism" | "scheduledTimestamp"
> {
  readonly hasEnded: boolean;
}

/** What is wrong with the times that a commit gives switchovers; the first problem of all. `now` in epoch milliseconds. */
export function switchoverProblem(
  commit: CommitSpec,
  { servers, now }: { readonly servers: readonly ServerStanding[]; readonly now: number },
): ErrorBody | undefined {
  const { mgmtUpgradePatchSpecs: patches = [] } = commit;
  for (const [i, { resourceId, startSwitchoverTimestamp: time }] of patches.entries()) {
    const path = `mgmtUpgradePatchSpecs[${i}]`;
    const server = servers.find((one) => one.resourceId === resourceId);
    if (!server) {
      const own = servers.map((one) => nameAndId(one.name, one.resourceId)).join(", ") || "none";
      return wrong(
        `${path}.resourceId`,
        "SERVER_UNKNOWN",
        `Management server ${resourceId} is not part of this upgrade, which has ${own}.`,
        "Name a management server of the upgrade.",
      );
    }
    if (patches.findIndex((one) => one.resourceId === resourceId) < i) {
      const message = `Management server ${nameAndId(server.name, resourceId)} is named twice.`;
      return wrong(`${path}.resourceId`, "RESOURCE_DUPLICATE", message, "Name each once.");
    }
    if (server.mechanism === "InPlace") {
      return wrong(
        `${path}.startSwitchoverTimestamp`,
        "FIELD_NOT_FOR_MECHANISM",
        `Management server ${nameAndId(server.name, resourceId)} is upgraded in place: there is no switchover.`,
        "Remove the server.",
      );
    }
    if (server.hasEnded) return switchoverBegun(server);
    if (isInThePast({ scheduledTimestamp: time }, now)) {
      const message = `The switchover time ${time} has passed.`;
      return wrong(`${path}.startSwitchoverTimestamp`, "SCHEDULE_IN_THE_PAST", message, "Give a time in the future.");
    }
    const begins = beginTime(saysWhen(commit) ? timed(notBefore(commit)) : server);
    if (toEpochMilliseconds(time) < begins) {
      return wrong(
        `${path}.startSwitchoverTimestamp`,
        "SWITCHOVER_BEFORE_UPGRADE",
        `The switchover time ${time} is before the start of the upgrade at ${toTimestamp(begins)}.`,
        "Give a later time.",
      );
    }
  }
  return undefined;
}

const timed = (scheduledTimestamp: string | undefined): Pick<Schedule, "scheduledTimestamp"> =>
  scheduledTimestamp === undefined ? {} : { scheduledTimestamp };

/** Why the time of a switchover cannot be changed any more. */
export function switchoverBegun({ resourceId, name }: Pick<ServerStanding, "resourceId" | "name">): ErrorBody {
  return {
    errorCode: "REQUEST_NOT_POSSIBLE",
    errorType: "CONFLICT",
    message: `The switchover of management server ${nameAndId(name, resourceId)} has started, so its time cannot be changed.`,
    remediationMessage: "Read the upgrade's Task for the state of the management server.",
    context: { resourceId },
  };
}

/** Whether a Task shows that the switchover of a management server has begun, or that the server's part has ended. */
export function hasSwitchedOver(task: { readonly subTasks?: readonly SubTask[] }, resourceId: string): boolean {
  const servers = (task.subTasks ?? []).flatMap((product) => product.subTasks ?? []);
  const server = servers.find(
    ({ type, resources }) => type === "MGMT_SERVER_UPGRADE" && resources?.[0]?.resourceId === resourceId,
  );
  if (!server) return false;
  const switchover = server.stages?.find(({ type }) => type === "SWITCH_OVER");
  return server.completionTimestamp !== undefined || (switchover !== undefined && switchover.status !== "PENDING");
}

function wrong(path: string, errorCode: string, message: string, remediationMessage: string): ErrorBody {
  return { errorCode, errorType: "INVALID_INPUT", message, remediationMessage, context: { path } };
}

/** The Upgrade (Spec 2.6) of a plan in a phase. `at` is when the phase was entered; it is the end time where it ends. */
export function upgradeView(plan: UpgradePlan, phase?: UpgradePhase, at?: string): Upgrade {
  const { id, spec, bundle } = plan;
  const current = phase ?? firstPhase(plan);
  const netvirt = spec.netvirtUpgradeUserInputSpecs?.[0];
  return {
    id,
    bundleId: spec.bundleId,
    resourceType: spec.resourceType,
    parallelUpgrade: true,
    resourceUpgradeSpecs: spec.resourceUpgradeSpecs,
    status: statusOfPhase(current).upgrade,
    taskId: id,
    ...(netvirt && { netvirtUpgradeUserInputSpec: netvirt }),
    bundle,
    ...(hasEnded(current) && at !== undefined && { endTime: toEpochMilliseconds(at) }),
    ...changeRecordOf(spec),
    ...overrideOf(plan),
  };
}
