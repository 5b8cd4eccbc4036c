import { Context } from "@temporalio/activity";
import type { NotificationChannel } from "../../src/domain/notifications/notification-channel";
import { waitAskedFor } from "../../src/domain/notifications/notification-retries";
import { cancelledFailure, runActivity, stopReason, timeOfAllRuns } from "../activity-run";
import type { NotificationInput, NotificationResult } from "../contract";
import { DriverError } from "../drivers/driver-error";
import { notificationMessage, type ReceiverAnswer } from "./notification-message";
import { sendNotification, type SendOptions } from "./send-notification";

/**
 * For how long a receiver that the inventory does not have is looked for, in milliseconds: workers that were not
 * started again yet do not know one that is new.
 */
const unknownFor = 15 * 60_000;

interface DeliveryDependencies extends Pick<SendOptions, "timeout" | "authorities"> {
  /** How a receiver is reached; undefined where the inventory does not have it. */
  receiver(id: string): NotificationChannel | undefined;
}

/**
 * Sends a notification to a receiver of the inventory once. Nothing of the receiver but its id is in what it throws:
 * URLs of receivers often hold a token.
 */
export function deliverNotification(
  { receiver, ...options }: DeliveryDependencies,
  { receiver: id, notice }: NotificationInput,
): Promise<NotificationResult> {
  const { info, log, cancellationSignal: signal } = Context.current();
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
      const answer = await sendNotification(known, notificationMessage(notice), { signal, ...options });
      switch (answer.verdict) {
        case "TAKEN":
          if (answer.addressesRefused !== undefined)
            log.warn("Mail server refused some addresses of a notification", {
              receiver: id,
              notification: notice.id,
              addressesRefused: answer.addressesRefused,
            });
          return { outcome: "DELIVERED" };
        case "GONE":
          return { outcome: "GONE" };
        case "REFUSED":
          throw refused(id, answer);
        case "LATER":
          throwIfStopped(id, answer);
          retryDelay = waitAskedFor(retryAfterMilliseconds(answer.retryAfter, Date.now()), info.attempt);
          throw notDelivered(id, answer);
      }
    },
  );
}

/** Of an attempt that was cut short. */
function throwIfStopped(id: string, { status }: ReceiverAnswer): void {
  if (status !== undefined || stopReason() === undefined) return;
  // A worker that stops hands over to the next: that is no reason to give the notification up.
  if (stopReason() === "WORKER_SHUTDOWN")
    throw notDelivered(id, { verdict: "LATER", what: "was not waited for, because the worker is stopping" });
  throw cancelledFailure();
}

function notDelivered(id: string, { what, status }: ReceiverAnswer): DriverError {
  return new DriverError({
    kind: "transient",
    code: "NOTIFICATION_NOT_DELIVERED",
    message: `Receiver ${id} of notifications ${what}.`,
    remediation: "Check the receiver and its entry in the inventory; the notification is retried automatically.",
    ...(status !== undefined && { status }),
  });
}

function refused(id: string, { what, status }: ReceiverAnswer): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "NOTIFICATION_REFUSED",
    message: `Receiver ${id} of notifications ${what} and will not accept this notification.`,
    remediation: "Check the receiver and its entry in the inventory, then restart the worker.",
    ...(status !== undefined && { status }),
  });
}

function receiverUnknown(id: string, mayCome: boolean): DriverError {
  return new DriverError({
    kind: mayCome ? "transient" : "permanent",
    code: "NOTIFICATION_RECEIVER_UNKNOWN",
    message: `Receiver ${id} of notifications is not in the worker's inventory.`,
    remediation: "Restore it in the inventory and restart the worker, or ignore this: only notifications are lost.",
  });
}

/** The wait that a header `Retry-After` asks for, in milliseconds; 0 where it asks for none or cannot be read. */
function retryAfterMilliseconds(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  const wait = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : 0;
}
