import { getSystemErrorName } from "node:util";
import { createTransport } from "nodemailer";
import type { MailChannel } from "../../src/domain/notifications/notification-channel";
import { line, type NotificationText } from "../../src/domain/notifications/notification-text";
import type { NotificationMessage, ReceiverAnswer } from "./notification-message";

interface MailOptions {
  /** Ends the attempt, and its connection. */
  readonly signal: AbortSignal;
  /** As PEM, instead of those of Node. */
  readonly authorities?: string;
}

/**
 * Sends a notification by e-mail once, over a connection of its own. The Message-ID is made of the notification's id, so that
 * mailboxes recognise one that arrives twice; all messages of an upgrade refer to one id, which makes a thread of them.
 */
export async function sendMail(
  { smtp, from, to }: MailChannel,
  message: NotificationMessage,
  { signal, authorities }: MailOptions,
): Promise<ReceiverAnswer> {
  const { host, port, tls, credentials } = smtp;
  const transport = createTransport({
    host,
    port,
    secure: tls === "IMPLICIT",
    requireTLS: tls === "STARTTLS",
    ignoreTLS: tls === "NONE",
    ...(credentials && { auth: { user: credentials.username, pass: credentials.password } }),
    ...(authorities !== undefined && { tls: { ca: authorities } }),
    // Nothing of a message names a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const { rejected } = await transport.sendMail({ ...mailOf(message, from.address), from, to: [...to], signal });
    const taken = { verdict: "TAKEN", what: "answered 250", status: 250 } as const;
    const { length } = rejected;
    if (length === 0) return taken;
    return {
      ...taken,
      what: `${taken.what}, but not for ${length} of ${to.length} addresses`,
      addressesRefused: length,
    };
  } catch (error) {
    return failedMail(error);
  }
}

/** All of it but its addresses. Header values are single lines whatever names say; nodemailer encodes them. */
function mailOf({ event, text }: NotificationMessage, sender: string) {
  const domain = sender.slice(sender.lastIndexOf("@") + 1);
  const upgrade = event.subject === undefined ? undefined : upgradeOf(event.source);
  return {
    subject: line(text.title, 200),
    text: plainText(text),
    messageId: `<${event.id}@${domain}>`,
    ...(upgrade !== undefined && { references: `<${upgrade}@${domain}>` }),
    date: new Date(event.time),
    // RFC 3834: out-of-office replies do not answer it.
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

function upgradeOf(source: string): string | undefined {
  return /^\/v1\/upgrades\/([\w.-]+)$/.exec(source)?.[1];
}

function plainText({ title, facts, errors, wanted, link }: NotificationText): string {
  const paragraphs = [
    title,
    ...(wanted === undefined ? [] : [wanted]),
    ...(link === undefined ? [] : [link]),
    facts.map(({ label, value }) => `${label}: ${value}`).join("\n"),
    ...errors,
  ];
  return `${paragraphs.filter((one) => one !== "").join("\n\n")}\n`;
}

/** What a mail server, or the way to it, made of a message. Its own words may name addresses and are not kept. */
function failedMail(error: unknown): ReceiverAnswer {
  const { code, responseCode: status, command } = fieldsOf(error);
  if (code === "EAUTH") return { verdict: "LATER", what: "rejected the credentials", ...(status && { status }) };
  if (code === "ETLS") return { verdict: "LATER", what: "offers no TLS that can be verified" };
  if (status === undefined)
    return { verdict: "LATER", what: `is not reachable${code === undefined ? "" : ` (${code})`}` };
  // A bad sequence of commands (503) is about the connection; so is what is said before the message's envelope.
  const ofMessage = ["MAIL FROM", "RCPT TO", "DATA"].includes(command ?? "");
  const refused = status >= 500 && status !== 503 && ofMessage;
  return { verdict: refused ? "REFUSED" : "LATER", what: `answered ${status}`, status };
}

interface MailFailure {
  readonly code?: string;
  /** Of SMTP. */
  readonly responseCode?: number;
  readonly command?: string;
}

function fieldsOf(error: unknown): MailFailure {
  if (typeof error !== "object" || error === null) return {};
  const { code, errno, responseCode, command } = error as Record<string, unknown>;
  // nodemailer's own code says less than the system's.
  const known = typeof errno === "number" && errno < 0 ? getSystemErrorName(errno) : code;
  return {
    ...(typeof known === "string" && /^[A-Z_0-9]{1,60}$/.test(known) && { code: known }),
    ...(typeof responseCode === "number" && { responseCode }),
    ...(typeof command === "string" && { command }),
  };
}
