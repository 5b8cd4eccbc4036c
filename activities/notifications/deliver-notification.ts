import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import type { NotificationReceiver } from "../activity-dependencies";
import { cancelledFailure, runActivity } from "../activity-run";
import type { NotificationInput, NotificationResult } from "../contract";
import { DriverError } from "../drivers/driver-error";
import { signedNotification } from "./signed-notification";

/** How long a receiver may take to answer, in milliseconds. */
export const answerTimeout = 10_000;

interface DeliveryDependencies {
  /** Where a receiver is; undefined where the inventory does not have it. */
  receiver(id: string): NotificationReceiver | undefined;
  readonly timeout?: number;
}

/**
 * Sends a notification to a receiver of the inventory once. Nothing of the receiver but its id is in what it throws:
 * URLs of receivers often hold a token.
 */
export function deliverNotification(
  { receiver, timeout = answerTimeout }: DeliveryDependencies,
  { receiver: id, notice }: NotificationInput,
): Promise<NotificationResult> {
  const { upgradeId } = notice.data;
  return runActivity({ context: { receiver: id, notification: notice.id }, upgradeId }, async () => {
    const known = receiver(id);
    if (known === undefined) throw receiverUnknown(id);
    const status = await post(known, signedNotification(notice, known.secrets, Date.now()), timeout, id);
    if (status === 410) return { outcome: "GONE" };
    if (status >= 200 && status < 300) return { outcome: "DELIVERED" };
    // Following it would take the notification where no operator has sent it.
    const redirected = status >= 300 && status < 400 ? ", and redirects are not followed" : "";
    throw notDelivered(id, `answered ${status}${redirected}`, status);
  });
}

async function post(
  { url }: NotificationReceiver,
  { headers, body }: ReturnType<typeof signedNotification>,
  timeout: number,
  id: string,
): Promise<number> {
  const { cancellationSignal } = Context.current();
  const late = AbortSignal.timeout(timeout);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal: AbortSignal.any([late, cancellationSignal]),
    });
    // Its status is the answer: what else it says is neither read nor kept.
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    if (cancellationSignal.aborted || error instanceof CancelledFailure) throw cancelledFailure();
    throw notDelivered(
      id,
      late.aborted ? `has not answered within ${timeout / 1000} s` : `is not reachable${why(error)}`,
    );
  }
}

/** The system's own code of a failed connection; messages would name the address. */
function why(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^[A-Z_]{1,60}$/.test(code) ? ` (${code})` : "";
}

function notDelivered(id: string, what: string, status?: number): DriverError {
  return new DriverError({
    kind: "transient",
    code: "NOTIFICATION_NOT_DELIVERED",
    message: `Receiver ${id} of notifications ${what}.`,
    remediation: "Check the receiver and its entry in the inventory; the notification is sent again by itself.",
    ...(status !== undefined && { status }),
  });
}

function receiverUnknown(id: string): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "NOTIFICATION_RECEIVER_UNKNOWN",
    message: `Receiver ${id} of notifications is not in the worker's inventory.`,
    remediation: "Put it back into the inventory and start the worker again, or leave it: only notifications are lost.",
  });
}
