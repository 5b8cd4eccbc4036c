import { CancellationScope, isCancellation, log, proxyActivities, setCurrentDetails } from "@temporalio/workflow";
import type { UpgradeActivities } from "../activities/contract";
import { wants, type UpgradeNotice } from "../src/domain/upgrade-notice";
import type { NotifyInput, NotifyResult, PendingDelivery } from "./messages";
import { notificationOptions } from "./retry-policy";

const { deliverNotification } = proxyActivities<Pick<UpgradeActivities, "deliverNotification">>(
  notificationOptions(60_000),
);

/** How many notifications are on their way to one receiver at the same time. */
const atOnce = 20;

const hour = 60 * 60 * 1000;

/**
 * What is still to be delivered. Every notification goes to every receiver by an Activity of its own: a receiver that
 * does not answer holds up no other, and a notification that it refuses does not hold up the next.
 */
export class NotificationDeliveries {
  private readonly pending: Set<PendingDelivery>;
  private readonly gone: Set<string>;
  private readonly running = new Map<PendingDelivery, Promise<void>>();
  /** Of its own: the cancellation of the Workflow is the news that the upgrade has ended, and stops no delivery. */
  private readonly scope = new CancellationScope({
    cancellable: true,
    parent: new CancellationScope({ cancellable: false }),
  });
  private handingOver = false;
  private delivered: number;
  private givenUp: number;

  constructor(private readonly input: NotifyInput) {
    this.pending = new Set(input.pending);
    this.gone = new Set(input.gone);
    this.delivered = input.delivered ?? 0;
    this.givenUp = input.givenUp ?? 0;
    this.keep(input.notices);
  }

  get idle(): boolean {
    return this.pending.size === 0;
  }

  /** Takes notifications and sends them to whoever wants them. */
  add(notices: readonly UpgradeNotice[]): void {
    this.keep(notices);
    this.begin();
  }

  private keep(notices: readonly UpgradeNotice[]): void {
    for (const notice of notices) {
      for (const receiver of this.input.receivers.filter((one) => wants(one, notice.type))) {
        this.pending.add({ receiver: receiver.id, notice, until: Date.now() + receiver.retryHours * hour });
      }
    }
  }

  /** Begins what may begin now; called again whenever a delivery has ended. */
  begin(): void {
    if (this.handingOver) return;
    for (const delivery of this.pending) {
      if (this.gone.has(delivery.receiver)) {
        if (!this.running.has(delivery)) this.pending.delete(delivery);
      } else if (!this.running.has(delivery) && this.inWork(delivery.receiver) < atOnce) {
        this.running.set(delivery, this.deliver(delivery));
      }
    }
    setCurrentDetails(this.described());
  }

  private inWork(receiver: string): number {
    return [...this.running.keys()].filter((delivery) => delivery.receiver === receiver).length;
  }

  private async deliver(delivery: PendingDelivery): Promise<void> {
    const { receiver, notice, until } = delivery;
    const options = {
      ...notificationOptions(Math.max(1000, until - Date.now())),
      summary: `${notice.type} to ${receiver}`,
    };
    try {
      const { outcome } = await this.scope.run(() =>
        deliverNotification.executeWithOptions(options, [{ receiver, notice }]),
      );
      if (outcome === "DELIVERED") this.delivered++;
      else this.stop(receiver);
      this.pending.delete(delivery);
    } catch (failure) {
      // Carried over to the next run, which sends it again under the same id.
      if (this.handingOver && isCancellation(failure)) return;
      this.givenUp++;
      this.pending.delete(delivery);
      log.warn("A notification was given up", { receiver, notification: notice.id, type: notice.type, failure });
    } finally {
      this.running.delete(delivery);
    }
    this.begin();
  }

  private stop(receiver: string): void {
    if (!this.gone.has(receiver))
      log.warn("A receiver wants no more notifications of this upgrade (410)", { receiver });
    this.gone.add(receiver);
  }

  /** Stops what is on its way and gives the input with which the next run goes on. */
  async handOver(): Promise<NotifyInput> {
    this.handingOver = true;
    this.scope.cancel();
    await Promise.all(this.running.values());
    return { ...this.input, ...this.result(), notices: [], pending: [...this.pending], gone: [...this.gone] };
  }

  result(): NotifyResult {
    return { delivered: this.delivered, givenUp: this.givenUp };
  }

  /** For the Web UI. */
  described(): string {
    const waiting = new Map<string, number>();
    for (const { receiver } of this.pending) waiting.set(receiver, (waiting.get(receiver) ?? 0) + 1);
    const lines = [...waiting].map(([receiver, count]) => `- ${receiver}: ${count} on their way`);
    return [`${this.delivered} delivered, ${this.givenUp} given up`, lines.join("\n")].filter((s) => s).join("\n\n");
  }
}
