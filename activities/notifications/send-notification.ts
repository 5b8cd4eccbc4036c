import { CloudEvent, HTTP } from "cloudevents";
import { Webhook } from "standardwebhooks";
import type { UpgradeNotification } from "../../src/domain/notifications/upgrade-notification";
import type { NotificationReceiver } from "../activity-dependencies";

/** How long a receiver may take to answer, in milliseconds. */
export const answerTimeout = 10_000;

/** What a receiver has answered; its body is neither read nor kept. */
export interface ReceiverAnswer {
  readonly status: number;
  /** The header `Retry-After` as it came. */
  readonly retryAfter?: string;
}

/** No answer has come. The message ends the sentence "Receiver chat ..." and names no address. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

interface SendOptions {
  /** Milliseconds. */
  readonly timeout?: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

/**
 * Sends a notification to a receiver once, signed now, and follows no redirect: it would take the notification where
 * no operator has sent it. Throws {@link NoAnswer}, which holds nothing of URL and secrets.
 */
export async function sendNotification(
  { url, secrets }: NotificationReceiver,
  notification: WireNotification,
  { timeout = answerTimeout, signal }: SendOptions = {},
): Promise<ReceiverAnswer> {
  const late = AbortSignal.timeout(timeout);
  const { headers, body } = signedNotification(notification, secrets, Date.now());
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal: signal ? AbortSignal.any([late, signal]) : late,
    });
    await response.body?.cancel();
    const retryAfter = response.headers.get("retry-after");
    return { status: response.status, ...(retryAfter !== null && { retryAfter }) };
  } catch (error) {
    throw new NoAnswer(
      late.aborted ? `has not answered within ${timeout / 1000} s` : `is not reachable${systemCode(error)}`,
    );
  }
}

/** Whether the receiver has taken the notification. */
export function isTaken({ status }: ReceiverAnswer): boolean {
  return status >= 200 && status < 300;
}

/** The end of the sentence "Receiver chat ..." of an answer that is no success. */
export function whatWasAnswered({ status }: ReceiverAnswer): string {
  const redirected = status >= 300 && status < 400 ? ", and redirects are not followed" : "";
  return `answered ${status}${redirected}`;
}

/** The system's own code of a failed connection; messages would name the address. */
function systemCode(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^[A-Z_]{1,60}$/.test(code) ? ` (${code})` : "";
}

/** What is sent: the attributes of a CloudEvent that differ from one to the next, and its data. */
interface WireNotification {
  /** Also its `webhook-id`: visible ASCII without dots, the same at every attempt. */
  readonly id: string;
  readonly type: string;
  /** A URI reference. */
  readonly source: string;
  readonly subject?: string;
  /** A Timestamp. */
  readonly time: string;
  /** The extension `sequence` of CloudEvents. */
  readonly sequence?: string;
  readonly data: object;
}

/** A notification as it goes over the wire. */
export interface SignedNotification {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What is sent of a notification. */
export function notificationOnTheWire({ id, sequence, type, time, data }: UpgradeNotification): WireNotification {
  return {
    id,
    type,
    time,
    source: `/v1/upgrades/${data.upgradeId}`,
    subject: data.resourceId ?? data.upgradeId,
    // A string that sorts as text.
    sequence: String(sequence).padStart(10, "0"),
    data,
  };
}

/**
 * A CloudEvent 1.0 in structured JSON mode, signed after Standard Webhooks with every secret of the receiver, so that
 * a secret can be replaced without a gap. `at` (epoch milliseconds) is the moment of this attempt: receivers refuse
 * signatures that are older than minutes.
 */
function signedNotification(
  notification: WireNotification,
  secrets: readonly string[],
  at: number,
): SignedNotification {
  const event = new CloudEvent({ ...notification, datacontenttype: "application/json" });
  const { headers, body } = HTTP.structured(event);
  const text = String(body);
  const sent = new Date(at);
  return {
    headers: {
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      "user-agent": "upgrade-management-service",
      "webhook-id": notification.id,
      "webhook-timestamp": String(Math.floor(at / 1000)),
      "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(notification.id, sent, text)).join(" "),
    },
    body: text,
  };
}
