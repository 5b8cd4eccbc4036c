import { CloudEvent, HTTP } from "cloudevents";
import { Webhook } from "standardwebhooks";
import { notificationText, type NotificationText } from "../../src/domain/notifications/notification-text";
import type { UpgradeNotification } from "../../src/domain/notifications/upgrade-notification";

/** A notification as it is sent: for programs and for people. */
export interface NotificationMessage {
  readonly event: NotificationEvent;
  readonly text: NotificationText;
}

/** The attributes of a CloudEvent that differ from one to the next, and its data. */
export interface NotificationEvent {
  /** Also its `webhook-id` and part of its Message-ID: visible ASCII without dots, the same at every attempt. */
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

/** What is sent of a notification. */
export function notificationMessage(notice: UpgradeNotification): NotificationMessage {
  const { id, sequence, type, time, data } = notice;
  return {
    event: {
      id,
      type,
      time,
      source: `/v1/upgrades/${data.upgradeId}`,
      subject: data.resourceId ?? data.upgradeId,
      // A string that sorts as text.
      sequence: String(sequence).padStart(10, "0"),
      data,
    },
    text: notificationText(notice),
  };
}

/** The body of an HTTP request with its headers. */
export interface HttpMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * A CloudEvent 1.0 in structured JSON mode, signed after Standard Webhooks with every secret of the receiver, so that
 * a secret can be replaced without a gap. `at` (epoch milliseconds) is the moment of this attempt: receivers refuse
 * signatures that are older than minutes.
 */
export function signedEvent(event: NotificationEvent, secrets: readonly string[], at: number): HttpMessage {
  const { headers, body } = HTTP.structured(new CloudEvent({ ...event, datacontenttype: "application/json" }));
  const text = String(body);
  const sent = new Date(at);
  return {
    headers: {
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      "webhook-id": event.id,
      "webhook-timestamp": String(Math.floor(at / 1000)),
      "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(event.id, sent, text)).join(" "),
    },
    body: text,
  };
}

/** What a receiver made of a notification. Nothing of an answer but its status is read or kept. */
export interface ReceiverAnswer {
  /** `GONE`: it wants no more of them. `REFUSED`: it will never take this one. `LATER`: it may, at another attempt. */
  readonly verdict: "TAKEN" | "GONE" | "REFUSED" | "LATER";
  /** Of an e-mail that was taken for some of its addresses: for how many it was not. */
  readonly addressesRefused?: number;
  /** The end of the sentence "Receiver chat ...", which names no address. */
  readonly what: string;
  /** Of HTTP or SMTP; absent where there was no answer. */
  readonly status?: number;
  /** The header `Retry-After` as it came. */
  readonly retryAfter?: string;
}
