/** How a receiver of notifications is reached. Holds secrets, and a URL often is one: in no Workflow, no log and no error. */
export type NotificationChannel = WebhookChannel | ChatChannel | MailChannel;

/** A CloudEvent for programs, signed after Standard Webhooks. */
export interface WebhookChannel {
  readonly format: "CLOUDEVENTS";
  readonly url: string;
  /** With the prefix `whsec_`; every one of them signs. Never empty. */
  readonly secrets: readonly string[];
}

/** A message for people by the incoming webhook of a chat. */
export interface ChatChannel {
  readonly format: "SLACK" | "TEAMS";
  readonly url: string;
}

/** A message for people by e-mail. */
export interface MailChannel {
  readonly format: "EMAIL";
  readonly smtp: SmtpServer;
  readonly from: MailAddress;
  /** Never empty. */
  readonly to: readonly MailAddress[];
}

export interface MailAddress {
  /** What people read; empty where there is none. */
  readonly name: string;
  /** ASCII, such as `ops@example.com`. */
  readonly address: string;
}

/** How an SMTP connection is encrypted: from its first byte, by an upgrade that is required, or not at all. */
export type SmtpTls = "IMPLICIT" | "STARTTLS" | "NONE";

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  readonly tls: SmtpTls;
  /** Absent where the server takes mail without. */
  readonly credentials?: { readonly username: string; readonly password: string };
}
