import { CancellationScope, condition, isCancellation, log, proxyActivities } from "@temporalio/workflow";
import type { UpgradeActivities } from "../activities/contract";
import type { PlannedReceiver, UpgradeNotice } from "../src/domain/upgrade-notice";
import { currentTime } from "./clock";
import { notificationOptions } from "./retry-policy";

const { deliverNotification } = proxyActivities<Pick<UpgradeActivities, "deliverNotification">>(
  notificationOptions(60_000),
);

/** How many notifications are on their way to one receiver at the same time. */
const atOnce = 20;

/** How many wait for one receiver; with more of them the next run could not be handed them. */
const longestQueue = 200;

/** Milliseconds for which a notification that is not taken holds up the next: enough for two attempts. */
const headStart = 30_000;

const hour = 60 * 60 * 1000;

/** A notification that a receiver is to get. */
export interface Delivery {
  readonly notice: UpgradeNotice;
  /** When it is given up (epoch milliseconds). */
  readonly until: number;
}

/**
 * The notifications of one receiver, in their order: each waits for the one before it, but not for long, so that one
 * that the receiver does not take does not keep the others from it.
 */
export class ReceiverQueue {
  private readonly waiting: Delivery[] = [];
  private readonly inWork = new Map<Delivery, Promise<void>>();
  /** Of its own: the cancellation of the Workflow is the news that the upgrade has ended, and stops no delivery. */
  private readonly scope = new CancellationScope({
    cancellable: true,
    parent: new CancellationScope({ cancellable: false }),
  });
  private handingOver = false;
  delivered = 0;
  givenUp = 0;

  /** `gone`: whether the receiver wants no more. `changed` is called whenever one of its numbers has changed. */
  constructor(
    readonly receiver: PlannedReceiver,
    public gone: boolean,
    private readonly changed: () => void,
  ) {}

  /** How many are not delivered yet. */
  get length(): number {
    return this.waiting.length + this.inWork.size;
  }

  add(notice: UpgradeNotice, until = currentTime() + this.receiver.retryHours * hour): void {
    if (this.gone) return;
    this.waiting.push({ notice, until });
    // What is the case now says more than what was.
    for (const { notice: oldest } of this.waiting.splice(0, this.waiting.length - longestQueue)) {
      this.givenUp++;
      log.warn("A notification was given up: too many wait for its receiver", this.described(oldest));
    }
  }

  /** Delivers what there is and what comes, until it is handed over. */
  async work(): Promise<void> {
    for (;;) {
      await condition(() => this.handingOver || (this.waiting.length > 0 && this.inWork.size < atOnce));
      const next = this.handingOver ? undefined : this.waiting.shift();
      if (!next) return;
      this.inWork.set(next, this.deliver(next));
      const free = () => this.handingOver || !this.inWork.has(next);
      await condition(() => free() || this.waiting.length > 0);
      if (!free()) await condition(free, headStart, { summary: `${this.receiver.id}: the next one waits` });
    }
  }

  private async deliver(delivery: Delivery): Promise<void> {
    const { notice, until } = delivery;
    const { id: receiver } = this.receiver;
    const options = {
      ...notificationOptions(Math.max(1000, until - currentTime())),
      summary: `${notice.type} to ${receiver}`,
    };
    try {
      const { outcome } = await this.scope.run(() =>
        deliverNotification.executeWithOptions(options, [{ receiver, notice }]),
      );
      if (outcome === "DELIVERED") this.delivered++;
      else this.stop();
    } catch (failure) {
      // It is handed over to the next run, which sends it again under the same id.
      if (this.handingOver && isCancellation(failure)) return;
      this.givenUp++;
      log.warn("A notification was given up", { ...this.described(notice), failure });
    }
    this.inWork.delete(delivery);
    this.changed();
  }

  private stop(): void {
    const { id: receiver } = this.receiver;
    if (!this.gone) log.warn("A receiver wants no more notifications of this upgrade (410)", { receiver });
    this.gone = true;
    this.waiting.splice(0);
  }

  /** Stops what is on its way and gives all that is not delivered, in its order. */
  async handOver(): Promise<readonly Delivery[]> {
    this.handingOver = true;
    this.scope.cancel();
    await Promise.all(this.inWork.values());
    return this.gone ? [] : [...this.inWork.keys(), ...this.waiting];
  }

  private described({ id, type }: UpgradeNotice) {
    return { receiver: this.receiver.id, notification: id, type };
  }
}
