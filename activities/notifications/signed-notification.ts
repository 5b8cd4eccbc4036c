import { CloudEvent, HTTP } from "cloudevents";
import { Webhook } from "standardwebhooks";
import type { UpgradeNotice } from "../../src/domain/upgrade-notice";

/** What is sent: the attributes of a CloudEvent that differ from one to the next, and its data. */
export interface WireNotification {
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

/** What is sent of a notice. */
export function noticeOnTheWire({ id, sequence, type, time, data }: UpgradeNotice): WireNotification {
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
export function signedNotification(
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
