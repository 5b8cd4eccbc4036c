import { Context } from "@temporalio/activity";
import { waitAskedFor } from "../../src/domain/notifications/notification-retries";
import type { NotificationReceiver } from "../activity-dependencies";
import { cancelledFailure, runActivity, stopReason, timeOfAllRuns } from "../activity-run";
import type { NotificationInput, NotificationResult } from "../contract";
import { DriverError } from "../drivers/driver-error";
import {
  isTaken,
  NoAnswer,
  notificationOnTheWire,
  type ReceiverAnswer,
  sendNotification,
  whatWasAnswered,
} from "./send-notification";

/**
 * For how long a receiver that the inventory does not have is looked for, in milliseconds: workers that were not
 * started again yet do not know one that is new.
 */
const unknownFor = 15 * 60_000;

interface DeliveryDependencies {
  /** Where a receiver is; undefined where the inventory does not have it. */
  receiver(id: string): NotificationReceiver | undefined;
  /** Milliseconds that it may take to answer. */
  readonly timeout?: number;
}

/**
 * Sends a notification to a receiver of the inventory once. Nothing of the receiver but its id is in what it throws:
 * URLs of receivers often hold a token.
 */
export function deliverNotification(
  { receiver, timeout }: DeliveryDependencies,
  { receiver: id, notice }: NotificationInput,
): Promise<NotificationResult> {
  const { info, cancellationSignal: signal } = Context.current();
  let retryDelay: number | undefined;
  return runActivity(
    {
      context: { receiver: id, notification: notice.id },
      upgradeId: notice.data.upgradeId,
      failure: () => ({ ...(retryDelay !== undefined && { retryDelay }) }),
    },
    async () => {
      const known = receiver(id);
      if (known === undefined) throw receiverUnknown(id, timeOfAllRuns() < unknownFor);
      const answer = await sendNotification(known, notificationOnTheWire(notice), {
        signal,
        ...(timeout !== undefined && { timeout }),
      }).catch((error: unknown) => {
        throw noAnswer(id, error);
      });
      if (answer.status === 410) return { outcome: "GONE" };
      if (isTaken(answer)) return { outcome: "DELIVERED" };
      retryDelay = waitAskedFor(retryAfterMilliseconds(answer.retryAfter, Date.now()), info.attempt);
      throw notDelivered(id, whatWasAnswered(answer), answer);
    },
  );
}

function noAnswer(id: string, error: unknown): unknown {
  // A worker that stops hands over to the next: that is no reason to give the notification up.
  if (stopReason() === "WORKER_SHUTDOWN") return notDelivered(id, "was not waited for, because the worker stops");
  if (stopReason() !== undefined) return cancelledFailure();
  return error instanceof NoAnswer ? notDelivered(id, error.message) : error;
}

function notDelivered(id: string, what: string, answer?: ReceiverAnswer): DriverError {
  return new DriverError({
    kind: "transient",
    code: "NOTIFICATION_NOT_DELIVERED",
    message: `Receiver ${id} of notifications ${what}.`,
    remediation: "Check the receiver and its entry in the inventory; the notification is retried automatically.",
    ...(answer && { status: answer.status }),
  });
}

function receiverUnknown(id: string, mayCome: boolean): DriverError {
  return new DriverError({
    kind: mayCome ? "transient" : "permanent",
    code: "NOTIFICATION_RECEIVER_UNKNOWN",
    message: `Receiver ${id} of notifications is not in the worker's inventory.`,
    remediation: "Put it back into the inventory and start the worker again, or leave it: only notifications are lost.",
  });
}

/** The wait that a header `Retry-After` asks for, in milliseconds; 0 where it asks for none or cannot be read. */
function retryAfterMilliseconds(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  const wait = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : 0;
}
