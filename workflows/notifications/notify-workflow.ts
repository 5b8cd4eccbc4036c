import {
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  log,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from "@temporalio/workflow";
import { isLeft } from "fp-ts/Either";
import type { UpgradeActivities } from "../../activities/contract";
import {
  endsUpgrade,
  type PlannedReceiver,
  type UpgradeNotification,
  wants,
} from "../../src/domain/notifications/upgrade-notification";
import { lostUpgradeNotification } from "../../src/domain/task/lost-upgrade";
import { notificationOptions, readOptions } from "../activity-options";
import { currentTime, now } from "../clock";
import { InternalSignals } from "../internal-signals";
import {
  lookSignal,
  NotificationsPayload,
  notificationsSignal,
  type NotifyInput,
  type NotifyResult,
  type PendingDelivery,
} from "../messages";

/**
 * Tells the receivers of one upgrade what happens to it, in all of its runs. The upgrade never waits for it. The end of a run
 * of the upgrade reaches it as a cancellation, or as the Signal `look` (docs/decisions/0015, 0038): where the upgrade has
 * ended, it delivers what is left, or gives it up in time, and completes. Otherwise it goes on; after a cancellation as new,
 * because a run can be cancelled only once. A history that grows long is continued as new.
 */
export async function notifyWorkflow(input: NotifyInput): Promise<NotifyResult> {
  const deliveries = new NotificationDeliveries(input);
  const reported = { cancelled: false, look: input.look === true };
  let ended = input.upgradeEnded === true;
  const signals = new InternalSignals();
  signals.on(notificationsSignal, (payload) => {
    const notices = NotificationsPayload.decode(payload);
    if (isLeft(notices)) log.warn("Unreadable notifications were dropped");
    else deliveries.add(notices.right);
  });
  signals.on(lookSignal, () => {
    reported.look = true;
  });
  signals.dropOthers();
  CancellationScope.current().cancelRequested.catch(() => (reported.cancelled = true));
  const isOver = () => ended && deliveries.idle;
  const mustLook = () => !ended && (reported.cancelled || reported.look);
  const isTooLong = () => workflowInfo().continueAsNewSuggested;
  return CancellationScope.nonCancellable(async () => {
    deliveries.begin();
    for (;;) {
      await condition(() => isOver() || mustLook() || isTooLong());
      const wasCancelled = reported.cancelled;
      if (mustLook()) {
        reported.cancelled = reported.look = false;
        ended = await deliveries.hasUpgradeEnded();
      }
      if (isOver()) return deliveries.result();
      if (isTooLong() || (wasCancelled && !ended)) break;
    }
    const rest = await deliveries.handOver();
    return continueAsNew<typeof notifyWorkflow>({ ...rest, upgradeEnded: ended, look: mustLook() });
  });
}

const { readUpgradeEnd } = proxyActivities<Pick<UpgradeActivities, "readUpgradeEnd">>(readOptions());

/** All that is still to be told of an upgrade. Each receiver has a queue of its own: none holds up another. */
class NotificationDeliveries {
  private readonly queues: readonly ReceiverQueue[];
  private latest: UpgradeNotification | undefined;

  constructor(private readonly input: NotifyInput) {
    const { receivers, notices, pending, gone = [] } = input;
    this.queues = receivers.map(
      (receiver) => new ReceiverQueue(receiver, gone.includes(receiver.id), () => this.describe()),
    );
    this.latest = input.latest;
    if (pending === undefined) this.add(notices);
    else this.takeOver(pending, notices);
  }

  /** Goes on with what an earlier run has left. */
  private takeOver(pending: readonly PendingDelivery[], notices: readonly UpgradeNotification[]): void {
    const bySequence = new Map(notices.map((notice) => [notice.sequence, notice]));
    for (const { receiver, sequence, until } of pending) {
      const notice = bySequence.get(sequence);
      if (notice) this.queues.find((queue) => queue.receiver.id === receiver)?.add(notice, until);
    }
  }

  get idle(): boolean {
    return this.queues.every(({ length }) => length === 0);
  }

  /** Takes notifications for whoever wants them. */
  add(notices: readonly UpgradeNotification[]): void {
    for (const notice of notices) {
      this.latest = notice;
      for (const queue of this.queues) if (wants(queue.receiver, notice.type)) queue.add(notice);
    }
    this.describe();
  }

  /** Begins to deliver. */
  begin(): void {
    this.describe();
    for (const queue of this.queues) void queue.work();
  }

  /**
   * Once the upgrade is said to have ended: whether it has. Tells those who want to know where it did so without a word.
   * Where it runs, only a run of it has ended, or somebody has cancelled the notifications.
   */
  async hasUpgradeEnded(): Promise<boolean> {
    const { latest } = this;
    if (latest && endsUpgrade(latest)) return true;
    try {
      const options = { ...readOptions(), summary: "read whether the upgrade has ended" };
      const { upgradeId } = this.input;
      const { isRunning, reason } = await readUpgradeEnd.executeWithOptions(options, [{ upgradeId }]);
      if (reason && latest) this.add([lostUpgradeNotification(latest, reason, now())]);
      return !isRunning;
    } catch (failure) {
      log.warn("Could not read the outcome of the upgrade; notification skipped", { failure });
      return true;
    }
  }

  /** Stops what is on its way and gives the input with which the next run goes on. */
  async handOver(): Promise<NotifyInput> {
    const rest = await Promise.all(
      this.queues.map(async (queue) => ({ receiver: queue.receiver.id, deliveries: await queue.handOver() })),
    );
    const pending = rest.flatMap(({ receiver, deliveries }) =>
      deliveries.map(({ notice, until }) => ({ receiver, sequence: notice.sequence, until })),
    );
    const notices = new Map(
      rest.flatMap(({ deliveries }) => deliveries.map(({ notice }) => [notice.sequence, notice] as const)),
    );
    const { upgradeId, receivers } = this.input;
    return {
      upgradeId,
      receivers,
      notices: [...notices.values()],
      pending,
      ...(this.latest && { latest: this.latest }),
      gone: this.queues.filter(({ gone }) => gone).map(({ receiver }) => receiver.id),
      ...this.result(),
    };
  }

  result(): NotifyResult {
    const total = (count: (queue: ReceiverQueue) => number, before = 0) =>
      this.queues.reduce((sum, queue) => sum + count(queue), before);
    return {
      delivered: total(({ delivered }) => delivered, this.input.delivered),
      givenUp: total(({ givenUp }) => givenUp, this.input.givenUp),
    };
  }

  /** For the Web UI. */
  private describe(): void {
    const { delivered, givenUp } = this.result();
    const lines = this.queues.flatMap(({ receiver, length, gone }) =>
      gone ? [`- ${receiver.id}: wants no more (410)`] : length > 0 ? [`- ${receiver.id}: ${length} to deliver`] : [],
    );
    setCurrentDetails([`${delivered} delivered, ${givenUp} given up`, lines.join("\n")].filter((s) => s).join("\n\n"));
  }
}

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
  readonly notice: UpgradeNotification;
  /** When it is given up (epoch milliseconds). */
  readonly until: number;
}

/**
 * The notifications of one receiver, in their order: each waits for the one before it, but not for long, so that one
 * that the receiver does not take does not keep the others from it.
 */
class ReceiverQueue {
  private readonly waiting: Delivery[] = [];
  private readonly inWork = new Map<Delivery, Promise<void>>();
  /** Of its own: the cancellation of the Workflow says that the upgrade has ended, and stops no delivery. */
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

  add(notice: UpgradeNotification, until = currentTime() + this.receiver.retryHours * hour): void {
    if (this.gone) return;
    this.waiting.push({ notice, until });
    // What is the case now says more than what was.
    for (const { notice: oldest } of this.waiting.splice(0, this.waiting.length - longestQueue)) {
      this.givenUp++;
      log.warn("Notification dropped: too many wait for its receiver", this.described(oldest));
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
      if (!free()) await condition(free, headStart, { summary: `${this.receiver.id}: hold the next notification` });
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
      log.warn("Notification dropped", { ...this.described(notice), failure });
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

  private described({ id, type }: UpgradeNotification) {
    return { receiver: this.receiver.id, notification: id, type };
  }
}
