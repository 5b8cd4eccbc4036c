import { log, proxyActivities, setCurrentDetails } from "@temporalio/workflow";
import type { UpgradeActivities } from "../activities/contract";
import { lostNotice } from "../src/domain/lost-notice";
import { endsUpgrade, wants, type UpgradeNotice } from "../src/domain/upgrade-notice";
import { now } from "./clock";
import type { NotifyInput, NotifyResult, PendingDelivery } from "./messages";
import { ReceiverQueue } from "./receiver-queue";
import { readOptions } from "./retry-policy";

const { readUpgradeLoss } = proxyActivities<Pick<UpgradeActivities, "readUpgradeLoss">>(readOptions());

/** All that is still to be told of an upgrade. Each receiver has a queue of its own: none holds up another. */
export class NotificationDeliveries {
  private readonly queues: readonly ReceiverQueue[];
  private latest: UpgradeNotice | undefined;

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
  private takeOver(pending: readonly PendingDelivery[], notices: readonly UpgradeNotice[]): void {
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
  add(notices: readonly UpgradeNotice[]): void {
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
   * Once the upgrade is said to have ended: tells those who want to know where it did so without a word. Where
   * somebody has only cancelled the notifications, there is nothing to tell.
   */
  async tellLoss(): Promise<void> {
    const { latest } = this;
    if (!latest || endsUpgrade(latest)) return;
    if (!this.queues.some(({ receiver, gone }) => !gone && wants(receiver, "upgrade.lost"))) return;
    try {
      const options = { ...readOptions(), summary: "has the upgrade ended without a word?" };
      const { upgradeId } = this.input;
      const { reason } = await readUpgradeLoss.executeWithOptions(options, [{ upgradeId }]);
      if (reason) this.add([lostNotice(latest, reason, now())]);
    } catch (failure) {
      log.warn("How the upgrade has ended could not be read, and is not told", { failure });
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
