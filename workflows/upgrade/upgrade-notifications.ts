import {
  CancellationScope,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
} from "@temporalio/workflow";
import {
  type NotificationData,
  notificationId,
  type NotificationType,
  notifyWorkflowId,
  type UpgradeNotification,
  wants,
} from "../../src/domain/notifications/upgrade-notification";
import type { UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import { childColumns } from "../list-columns";
import { notificationsSignal } from "../messages";
import type { notifyWorkflow } from "../notifications/notify-workflow";
import type { watchUpgradeWorkflow } from "../notifications/watch-upgrade-workflow";

/** How many notifications go by one Signal at most, so that it stays far below the largest payload. */
const atOnce = 50;

/** What one run of an upgrade hands to the next about its notifications. */
export interface CarriedNotifications {
  readonly sequence: number;
  /** How many runs there were before. */
  readonly runs: number;
  readonly latest?: UpgradeNotification;
}

/**
 * Hands what happens to an upgrade to the Workflow that tells receivers, which is one for all runs of the upgrade. Nothing
 * here waits for a receiver, and nothing fails the upgrade. Without receivers it does nothing.
 */
export class UpgradeNotifications {
  private sequence: number;
  private latest: UpgradeNotification | undefined;
  private readonly waiting: UpgradeNotification[] = [];
  /** Whether the Workflow has been started, by this run or an earlier one. */
  private isStarted: boolean;
  /** Whether it still has to be told of the end of this run, because it is no child of it. */
  private isUnwatched: boolean;
  private busy = false;
  private sending: Promise<void> = Promise.resolve();

  /** `before`: of an earlier run. */
  constructor(
    private readonly plan: UpgradePlan,
    private readonly before: CarriedNotifications = { sequence: 0, runs: 0 },
  ) {
    this.sequence = before.sequence;
    this.latest = before.latest;
    this.isStarted = this.isUnwatched = before.latest !== undefined;
    if (this.isUnwatched) this.sendWaiting();
  }

  get carried(): CarriedNotifications {
    const { sequence, latest, before } = this;
    return { sequence, runs: before.runs + 1, ...(latest && { latest }) };
  }

  /** Whether somebody wants to be told of it. */
  wants(type: NotificationType): boolean {
    return this.receivers.some((one) => wants(one, type));
  }

  /**
   * Runs what finds something to tell of this type, as long as the upgrade runs; nothing where nobody wants to be told. Gives
   * the function that ends it, to be awaited before the Workflow ends.
   */
  watchFor(type: NotificationType, run: () => Promise<never>): () => Promise<void> {
    if (!this.wants(type)) return () => Promise.resolve();
    const scope = new CancellationScope();
    const watch = scope.run(run);
    watch.catch(() => undefined);
    return async () => {
      scope.cancel();
      try {
        await watch;
      } catch (failure) {
        if (!isCancellation(failure)) log.warn("A kind of notification is no longer sent", { type, failure });
      }
    };
  }

  private get receivers() {
    return this.plan.notifications ?? [];
  }

  /**
   * Tells it to those who want to know. Whoever wants to know of a loss needs all that came before it: without that
   * nobody can tell whether the end was told. `time` is a Timestamp.
   */
  tell(type: NotificationType, time: string, data: NotificationData): void {
    if (!this.wants(type) && !this.wants("upgrade.lost")) return;
    const sequence = ++this.sequence;
    this.latest = { id: notificationId(this.plan.id, sequence), sequence, type, time, data };
    this.waiting.push(this.latest);
    if (!this.busy) this.sendWaiting();
  }

  private sendWaiting(): void {
    this.busy = true;
    // What happens while the upgrade is cancelled is told as well.
    this.sending = CancellationScope.nonCancellable(() => this.send());
  }

  /** Whether something has not been handed over yet. */
  get pending(): boolean {
    return this.busy;
  }

  /** Ends when everything has been handed over; never rejects. To be awaited before the upgrade closes. */
  async handedOver(): Promise<void> {
    while (this.busy) await this.sending;
  }

  private async send(): Promise<void> {
    try {
      if (this.isUnwatched) await this.watch();
      while (this.waiting.length > 0) {
        const notices = this.waiting.splice(0, atOnce);
        if (this.isStarted && (await this.signalled(notices))) continue;
        await this.start(notices);
      }
    } catch (failure) {
      log.warn("Notifications were lost: their Workflow could not be started", { failure });
    } finally {
      this.busy = false;
    }
  }

  /** False where it has ended: somebody has terminated it. */
  private async signalled(notices: UpgradeNotification[]): Promise<boolean> {
    try {
      await getExternalWorkflowHandle(notifyWorkflowId(this.plan.id)).signal(notificationsSignal, notices);
      return true;
    } catch (failure) {
      log.warn("The notification Workflow ended and is restarted", { failure });
      return false;
    }
  }

  private async start(notices: readonly UpgradeNotification[]): Promise<void> {
    const { id, name } = this.plan;
    const { latest } = this.before;
    await startChild<typeof notifyWorkflow>("notifyWorkflow", {
      workflowId: notifyWorkflowId(id),
      args: [{ upgradeId: id, receivers: this.receivers, notices, ...(latest && { latest }) }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      // It takes this as the news that this run of the upgrade has ended.
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: childColumns(),
      staticSummary: `Notifications: ${name}`.slice(0, 200),
      staticDetails: `Notifies the receivers of the inventory about upgrade \`${id}\`.`,
    });
    this.isStarted = true;
  }

  /** Has the Workflow, a child of an earlier run, told of the end of this one. */
  private async watch(): Promise<void> {
    const { id, name } = this.plan;
    await startChild<typeof watchUpgradeWorkflow>("watchUpgradeWorkflow", {
      // That of the run before may still be passing on its end.
      workflowId: `${notifyWorkflowId(id)}/end/${this.before.runs + 1}`,
      args: [{ upgradeId: id }],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: childColumns(),
      staticSummary: `End of ${name}`.slice(0, 200),
      staticDetails: `Tells the notification Workflow when a run of upgrade \`${id}\` ends.`,
    });
    this.isUnwatched = false;
  }
}
