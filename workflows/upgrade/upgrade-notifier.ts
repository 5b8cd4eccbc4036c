import type { ErrorBody } from "../../src/domain/errors";
import {
  type NotificationData,
  notificationErrors,
  notificationsOfPhase,
  type NotificationType,
} from "../../src/domain/notifications/upgrade-notification";
import type { UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import { statusOfPhase, type UpgradePhase } from "../../src/domain/spec/upgrade";
import type { HostCounts } from "../../src/domain/task/sub-task";
import type { TaskProgress } from "../../src/domain/task/task-progress";
import { now } from "../clock";
import type { UpgradeNotifications } from "./upgrade-notifications";

/** Progress without its time, which is now. */
export type ProgressEvent = TaskProgress extends infer P ? (P extends unknown ? Omit<P, "at"> : never) : never;

/** Finds in all that happens to an upgrade what is worth telling its receivers. */
export class UpgradeNotifier {
  /** Whether receivers were told that this attempt has begun with its work. */
  private reportedStart = false;
  /** How long after its time the work has begun. */
  private lateSeconds: number | undefined;
  /** Failed hosts by resource that receivers were told of in this attempt. */
  private readonly reportedFailedHosts = new Map<string, number>();

  constructor(
    private readonly plan: Pick<UpgradePlan, "id" | "name" | "bundle">,
    private readonly notices: UpgradeNotifications,
  ) {}

  /** Something was recorded on the Task, in this phase. */
  happened(event: ProgressEvent, phase: UpgradePhase): void {
    if (event.type === "RetryStarted") {
      this.reportedStart = false;
      this.lateSeconds = undefined;
      this.reportedFailedHosts.clear();
    } else if (event.type === "ProductStarted") {
      const { lateSeconds } = this;
      if (!this.reportedStart)
        this.tell("upgrade.started", phase, { ...(lateSeconds !== undefined && { lateSeconds }) });
      this.reportedStart = true;
    } else if (event.type === "StartMissed") {
      this.tell("upgrade.start.missed", phase);
    } else if (event.type === "StartedLate") {
      this.lateSeconds = event.seconds;
    } else if (event.type === "ResolutionEnded") {
      this.tell(event.resolved ? "upgrade.resolved" : "upgrade.expired", phase);
    }
  }

  /** A phase was entered, with these errors. `failedPrechecks` are the errors of the latest prechecks. */
  entered(
    phase: UpgradePhase,
    about: { from: UpgradePhase; errors: readonly ErrorBody[]; failedPrechecks: readonly ErrorBody[] },
  ): void {
    const { from, errors, failedPrechecks } = about;
    const change = { from, to: phase, errors, prechecksFailed: failedPrechecks.length > 0 };
    for (const type of notificationsOfPhase(change))
      this.tell(type, phase, { errors: type === "upgrade.prechecks.failed" ? failedPrechecks : errors });
  }

  /** The hosts of a resource were counted; worth telling where more of them have failed than was told. */
  hostsCounted(
    resourceId: string,
    { failed, total }: HostCounts,
    { message, phase }: { message: string | undefined; phase: UpgradePhase },
  ): void {
    if (failed <= (this.reportedFailedHosts.get(resourceId) ?? 0)) return;
    this.reportedFailedHosts.set(resourceId, failed);
    const errors = message === undefined ? [] : [{ message, context: { resourceId } }];
    this.tell("upgrade.host.failed", phase, { errors, resourceId, hosts: { failed, total } });
  }

  private tell(
    type: NotificationType,
    phase: UpgradePhase,
    {
      errors = [],
      ...about
    }: Pick<NotificationData, "resourceId" | "hosts" | "lateSeconds"> & { errors?: readonly ErrorBody[] } = {},
  ): void {
    const { id, name, bundle } = this.plan;
    const { task, upgrade } = statusOfPhase(phase);
    this.notices.tell(type, now(), {
      upgradeId: id,
      name,
      bundleId: bundle.id,
      status: upgrade,
      taskStatus: task,
      errors: notificationErrors(errors),
      ...about,
    });
  }
}
