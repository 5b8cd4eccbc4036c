import { log } from "@temporalio/workflow";
import { overrideMaintenance } from "../../src/domain/plan/maintenance-override";
import { beginTime, reschedulePlan, rescheduleSwitchovers, saysWhen } from "../../src/domain/plan/schedule";
import { type ResourcePlan, resourcesOf, type UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import type { CommitPayload } from "../../src/domain/requests/upgrade-request";
import { toEpochMilliseconds } from "../../src/domain/timestamp";
import { currentTime, now } from "../clock";

/** What one run of an upgrade hands to the next about times. */
export interface CarriedTimes {
  /** Epoch milliseconds. */
  readonly askedAt: number;
  /** Ids of resources that wait for a commit, because they were not begun at their time. */
  readonly missed: readonly string[];
}

/** When the resources of an upgrade begin: the plan with the times that hold now, what is due, late, or has missed its time. */
export class UpgradeTimes {
  /** Grows with every change of the schedule, so that a wait can notice one. */
  changes = 0;
  /** When somebody last asked for the upgrade or had it go on (epoch milliseconds): what was due by then is not late. */
  private askedAt: number;
  /** Resources that were not begun at their time and wait for a commit. */
  private readonly missed: Set<string>;

  constructor(
    private currentPlan: UpgradePlan,
    before?: CarriedTimes,
  ) {
    this.askedAt = before?.askedAt ?? toEpochMilliseconds(currentPlan.creationTimestamp);
    this.missed = new Set(before?.missed);
  }

  get carried(): CarriedTimes {
    return { askedAt: this.askedAt, missed: [...this.missed] };
  }

  /** The plan with the times that hold now. */
  get plan(): UpgradePlan {
    return this.currentPlan;
  }

  /** The earliest time of resources that lies ahead (epoch milliseconds), if none of them may begin now. */
  next(resources: readonly ResourcePlan[]): number | undefined {
    const earliest = Math.min(...resources.map(beginTime));
    return Number.isFinite(earliest) && earliest > currentTime() ? earliest : undefined;
  }

  /** From when on the locks of resources are held (epoch milliseconds); in the past where they are needed now. */
  lockTime(resources: readonly ResourcePlan[]): number {
    const earliest = Math.min(...resources.map(beginTime));
    return Number.isFinite(earliest) ? earliest - this.currentPlan.lockLeadMinutes * 60_000 : 0;
  }

  /** When the first of resources is due (epoch milliseconds); undefined where nobody has given it a time, or has asked for it since. */
  dueTime(resources: readonly ResourcePlan[]): number | undefined {
    const earliest = Math.min(...resources.map(beginTime));
    return earliest <= this.askedAt ? undefined : earliest;
  }

  /** The time that the switchover of a management server waits for; undefined where it waits for none. */
  switchoverOf(resourceId: string): string | undefined {
    const server = resourcesOf(this.currentPlan).find((resource) => resource.resourceId === resourceId);
    return server?.kind === "MGMT" ? server.startSwitchoverTimestamp : undefined;
  }

  /** Somebody asked for the upgrade, or for it to go on. `at`: since when, epoch milliseconds. */
  asked(at: number): void {
    this.askedAt = Math.max(this.askedAt, at);
  }

  /**
   * How far a resource is past its time (milliseconds); 0 where nobody has given it one, or somebody has asked for it since.
   * `readyAt`: before that it could not begin for reasons of the upgrade's own.
   */
  lateness(resource: ResourcePlan, readyAt = 0): number {
    const time = beginTime(resource);
    return time <= this.askedAt ? 0 : Math.max(0, currentTime() - Math.max(time, readyAt));
  }

  /** Whether a resource is so late that it does not begin without a commit. */
  missesStart(resource: ResourcePlan, readyAt = 0): boolean {
    const limit = this.currentPlan.lateStartMinutes * 60_000;
    return this.missed.has(resource.resourceId) || this.lateness(resource, readyAt) > limit;
  }

  /** Resources that do not begin without a commit any more. Gives all such resources; none where it knew these already. */
  startMissed(resources: readonly ResourcePlan[]): readonly ResourcePlan[] {
    if (resources.every(({ resourceId }) => this.missed.has(resourceId))) return [];
    for (const { resourceId } of resources) this.missed.add(resourceId);
    return resourcesOf(this.currentPlan).filter(({ resourceId }) => this.missed.has(resourceId));
  }

  /** Whether something waits for a commit because it was not begun at its time. */
  get awaitCommit(): boolean {
    return this.missed.size > 0;
  }

  /** What has missed its time begins after all. */
  confirmStart(): void {
    this.missed.clear();
    this.changes++;
  }

  /** A resource is not to be upgraded any more. True where nothing else waits for a commit. */
  leaveOut(resourceId: string): boolean {
    this.changes++;
    return this.missed.delete(resourceId) && this.missed.size === 0;
  }

  /** The upgrade has ended: nothing waits any more. */
  end(): void {
    this.missed.clear();
  }

  /**
   * A time given at commit replaces the resources' own ones, but for those that have begun, and so do times of switchovers;
   * what it does not say stays. False where nothing changes by it.
   */
  reschedule(commit: CommitPayload, begun: ReadonlySet<string>): boolean {
    const { scheduledTimestamp, upgradeNow, mgmtUpgradePatchSpecs, maintenanceWindow, reason = "" } = commit;
    let plan = this.currentPlan;
    if (saysWhen(commit)) plan = reschedulePlan(plan, commit, begun);
    if (mgmtUpgradePatchSpecs) plan = rescheduleSwitchovers(plan, mgmtUpgradePatchSpecs);
    if (maintenanceWindow === "IGNORE") {
      const { requestedBy: by } = commit;
      plan = overrideMaintenance(plan, { reason, at: now(), ...(by !== undefined && { by }) });
    }
    // What is asked again and again is written once.
    if (JSON.stringify(plan) === JSON.stringify(this.currentPlan)) return false;
    this.currentPlan = plan;
    log.info("Upgrade rescheduled", { scheduledTimestamp, upgradeNow, mgmtUpgradePatchSpecs, maintenanceWindow });
    this.changes++;
    return true;
  }
}
