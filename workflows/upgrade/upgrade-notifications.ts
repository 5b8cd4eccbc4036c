import {
  CancellationScope,
  type ChildWorkflowHandle,
  log,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
} from "@temporalio/workflow";
import {
  type NotificationData,
  notificationId,
  type NotificationType,
  type UpgradeNotification,
  wants,
} from "../../src/domain/notifications/upgrade-notification";
import type { UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import { notificationsSignal } from "../messages";
import type { notifyWorkflow } from "../notifications/notify-workflow";

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
 * Hands what happens to an upgrade to the Workflow that tells receivers. Nothing here waits for a receiver, and nothing
 * fails the upgrade. Without receivers it does nothing.
 */
export class UpgradeNotifications {
  private sequence: number;
  private latest: UpgradeNotification | undefined;
  private readonly waiting: UpgradeNotification[] = [];
  private child: ChildWorkflowHandle<typeof notifyWorkflow> | undefined;
  private busy = false;
  private sending: Promise<void> = Promise.resolve();

  /** `before`: of an earlier run, whose Workflow for notifications ended with it. */
  constructor(
    private readonly plan: UpgradePlan,
    private readonly before: CarriedNotifications = { sequence: 0, runs: 0 },
  ) {
    this.sequence = before.sequence;
    this.latest = before.latest;
    // A loss could not be told unless a Workflow is there to notice it.
    if (this.latest && this.wants("upgrade.lost")) this.sendWaiting();
  }

  get carried(): CarriedNotifications {
    const { sequence, latest, before } = this;
    return { sequence, runs: before.runs + 1, ...(latest && { latest }) };
  }

  /** Whether somebody wants to be told of it. */
  wants(type: NotificationType): boolean {
    return this.receivers.some((one) => wants(one, type));
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
      if (this.before.latest && !this.child) this.child = await this.start([]);
      while (this.waiting.length > 0) {
        const notices = this.waiting.splice(0, atOnce);
        if (this.child && (await this.signalled(this.child, notices))) continue;
        this.child = await this.start(notices);
      }
    } catch (failure) {
      log.warn("Notifications were lost: their Workflow could not be started", { failure });
    } finally {
      this.busy = false;
    }
  }

  /** False where it has ended: somebody has cancelled or terminated it. */
  private async signalled(
    child: ChildWorkflowHandle<typeof notifyWorkflow>,
    notices: UpgradeNotification[],
  ): Promise<boolean> {
    try {
      await child.signal(notificationsSignal, notices);
      return true;
    } catch (failure) {
      log.warn("The notification Workflow has ended and is started again", { failure });
      return false;
    }
  }

  private start(notices: readonly UpgradeNotification[]): Promise<ChildWorkflowHandle<typeof notifyWorkflow>> {
    const { id, name } = this.plan;
    const { runs, latest } = this.before;
    return startChild<typeof notifyWorkflow>("notifyWorkflow", {
      // The one that an earlier run started may still be waiting for a receiver.
      workflowId: runs === 0 ? `notify/${id}` : `notify/${id}/${runs + 1}`,
      args: [{ upgradeId: id, receivers: this.receivers, notices, ...(latest && { latest }) }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      // It takes this as the news that the upgrade has ended, delivers the rest and completes.
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      staticSummary: `Notifications: ${name}`.slice(0, 200),
      staticDetails: `Tells the receivers of the inventory what happens to upgrade \`${id}\`.`,
    });
  }
}
