import { CloudEvent, HTTP } from "cloudevents";
import { Webhook } from "standardwebhooks";
import type { UpgradeNotice } from "../../src/domain/upgrade-notice";

/** A notification as it goes over the wire. */
export interface SignedNotification {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The notice as a CloudEvent 1.0 in structured JSON mode, signed after Standard Webhooks with every secret of the
 * receiver, so that a secret can be replaced without a gap. `at` (epoch milliseconds) is the moment of this attempt:
 * receivers refuse signatures that are older than minutes.
 */
export function signedNotification(notice: UpgradeNotice, secrets: readonly string[], at: number): SignedNotification {
  const { id, sequence, type, time, data } = notice;
  const event = new CloudEvent({
    id,
    type,
    time,
    source: `/v1/upgrades/${data.upgradeId}`,
    subject: data.resourceId ?? data.upgradeId,
    datacontenttype: "application/json",
    // The extension `sequence` of CloudEvents is a string that sorts as text.
    sequence: String(sequence).padStart(10, "0"),
    data,
  });
  const { headers, body } = HTTP.structured(event);
  const text = String(body);
  const sent = new Date(at);
  return {
    headers: {
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at / 1000)),
      "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, sent, text)).join(" "),
    },
    body: text,
  };
}
