import type { HostCounts } from "../src/domain/host-counts";
import type { ErrorBody } from "../src/domain/error-body";
import type { TaskProgress } from "../src/domain/task-progress";
import { noticeErrors, noticesOfPhase, type NoticeData, type NoticeType } from "../src/domain/upgrade-notice";
import type { UpgradePlan } from "../src/domain/upgrade-plan";
import { statusOfPhase, type UpgradePhase } from "../src/domain/upgrade-status";
import { now } from "./clock";
import type { UpgradeNotices } from "./upgrade-notices";

/** Progress without its time, which is now. */
export type Happening = TaskProgress extends infer P ? (P extends unknown ? Omit<P, "at"> : never) : never;

/** Finds in all that happens to an upgrade what is worth telling its receivers. */
export class UpgradeNews {
  /** Whether receivers were told that this attempt has begun with its work. */
  private toldStart = false;
  /** How long after its time the work has begun. */
  private lateSeconds: number | undefined;
  /** Failed hosts by resource that receivers were told of in this attempt. */
  private readonly toldFailures = new Map<string, number>();

  constructor(
    private readonly plan: Pick<UpgradePlan, "id" | "name" | "bundle">,
    private readonly notices: UpgradeNotices,
  ) {}

  /** Something was recorded on the Task, in this phase. */
  happened(happening: Happening, phase: UpgradePhase): void {
    if (happening.type === "RetryStarted") {
      this.toldStart = false;
      this.lateSeconds = undefined;
      this.toldFailures.clear();
    } else if (happening.type === "ProductStarted") {
      const { lateSeconds } = this;
      if (!this.toldStart) this.tell("upgrade.started", phase, { ...(lateSeconds !== undefined && { lateSeconds }) });
      this.toldStart = true;
    } else if (happening.type === "StartMissed") {
      this.tell("upgrade.start.missed", phase);
    } else if (happening.type === "StartedLate") {
      this.lateSeconds = happening.seconds;
    } else if (happening.type === "ResolutionEnded") {
      this.tell(happening.resolved ? "upgrade.resolved" : "upgrade.expired", phase);
    }
  }

  /** A phase was entered, with these errors. `failedPrechecks` are the errors of the latest prechecks. */
  entered(
    phase: UpgradePhase,
    about: { from: UpgradePhase; errors: readonly ErrorBody[]; failedPrechecks: readonly ErrorBody[] },
  ): void {
    const { from, errors, failedPrechecks } = about;
    const change = { from, to: phase, errors, prechecksFailed: failedPrechecks.length > 0 };
    for (const type of noticesOfPhase(change))
      this.tell(type, phase, { errors: type === "upgrade.prechecks.failed" ? failedPrechecks : errors });
  }

  /** The hosts of a resource were counted; worth telling where more of them have failed than was told. */
  hostsCounted(
    resourceId: string,
    { failed, total }: HostCounts,
    { message, phase }: { message: string | undefined; phase: UpgradePhase },
  ): void {
    if (failed <= (this.toldFailures.get(resourceId) ?? 0)) return;
    this.toldFailures.set(resourceId, failed);
    const errors = message === undefined ? [] : [{ message, context: { resourceId } }];
    this.tell("upgrade.host.failed", phase, { errors, resourceId, hosts: { failed, total } });
  }

  private tell(
    type: NoticeType,
    phase: UpgradePhase,
    {
      errors = [],
      ...about
    }: Pick<NoticeData, "resourceId" | "hosts" | "lateSeconds"> & { errors?: readonly ErrorBody[] } = {},
  ): void {
    const { id, name, bundle } = this.plan;
    const { task, upgrade } = statusOfPhase(phase);
    this.notices.tell(type, now(), {
      upgradeId: id,
      name,
      bundleId: bundle.id,
      status: upgrade,
      taskStatus: task,
      errors: noticeErrors(errors),
      ...about,
    });
  }
}
