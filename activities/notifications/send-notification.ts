import type {
  ChatChannel,
  NotificationChannel,
  WebhookChannel,
} from "../../src/domain/notifications/notification-channel";
import { systemCode } from "../system-code";
import { slackMessage, teamsMessage } from "./chat-messages";
import { type HttpMessage, type NotificationMessage, type ReceiverAnswer, signedEvent } from "./notification-message";
import { sendMail } from "./send-mail";

/** How long a receiver may take to answer, in milliseconds. */
export const answerTimeout = 10_000;

export interface SendOptions {
  /** Milliseconds. */
  readonly timeout?: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  /** Authorities of mail servers as PEM, instead of those of Node. */
  readonly authorities?: string;
}

/** Sends a notification to a receiver once, in its format. Holds nothing of URL and secrets in what it gives. */
export async function sendNotification(
  channel: NotificationChannel,
  message: NotificationMessage,
  { timeout = answerTimeout, signal, authorities }: SendOptions = {},
): Promise<ReceiverAnswer> {
  const late = AbortSignal.timeout(timeout);
  const limits = { late, signal: signal ? AbortSignal.any([late, signal]) : late };
  const answer =
    channel.format === "EMAIL"
      ? await sendMail(channel, message, { signal: limits.signal, ...(authorities !== undefined && { authorities }) })
      : await post(channel, httpMessage(channel, message), limits.signal);
  const silent = answer.status === undefined && late.aborted;
  return silent ? { verdict: "LATER", what: `did not answer within ${timeout / 1000} s` } : answer;
}

function httpMessage(channel: WebhookChannel | ChatChannel, { event, text }: NotificationMessage): HttpMessage {
  if (channel.format === "CLOUDEVENTS") return signedEvent(event, channel.secrets, Date.now());
  const message = channel.format === "SLACK" ? slackMessage(text) : teamsMessage(text);
  return { headers: { "content-type": "application/json; charset=utf-8" }, body: JSON.stringify(message) };
}

/** Follows no redirect: it would take the notification where no operator has sent it. */
async function post(
  { format, url }: WebhookChannel | ChatChannel,
  { headers, body }: HttpMessage,
  signal: AbortSignal,
): Promise<ReceiverAnswer> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "user-agent": "upgrade-management-service" },
      body,
      redirect: "manual",
      signal,
    });
    await response.body?.cancel();
    const { status } = response;
    const retryAfter = response.headers.get("retry-after");
    const redirected = status >= 300 && status < 400 ? ", and redirects are not followed" : "";
    return {
      verdict: verdictOf(format, status),
      what: `answered ${status}${redirected}`,
      status,
      ...(retryAfter !== null && { retryAfter }),
    };
  } catch (error) {
    return { verdict: "LATER", what: `is not reachable${systemCode(error)}` };
  }
}

/** Answers 4xx of a chat that may pass: timeouts and too many messages. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Receivers of CloudEvents are programs of the operators, whose 4xx passes when they have been mended. What a chat refuses,
 * it refuses for good: a webhook that was removed, a channel that is archived.
 */
function verdictOf(format: "CLOUDEVENTS" | "SLACK" | "TEAMS", status: number): ReceiverAnswer["verdict"] {
  if (status >= 200 && status < 300) return "TAKEN";
  if (status === 410) return "GONE";
  if (format === "CLOUDEVENTS" || status < 400 || status >= 500 || passing.has(status)) return "LATER";
  return "REFUSED";
}
