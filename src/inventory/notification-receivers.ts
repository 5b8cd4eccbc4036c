import type { MailAddress, MailChannel, NotificationChannel } from "../domain/notifications/notification-channel";
import type { NotificationType } from "../domain/notifications/upgrade-notification";
import { isLoopback } from "../loopback";
import { EndpointReader } from "./endpoint-reader";
import type { InventoryContent } from "./inventory-content";
import type { SecretReader } from "./read-secret";

/** Who is told what happens to upgrades; holds secrets, and its URL may be one, so it is never logged. */
export type NotificationReceiverEntry = NotificationChannel & {
  readonly id: string;
  /** What it wants to be told; absent means everything. */
  readonly events?: readonly NotificationType[];
  /** Hours after which a notification that cannot be delivered is given up. */
  readonly retryHours: number;
};

type Receiver = NonNullable<InventoryContent["notificationReceivers"]>[number];

const defaultRetryHours = 24;

/** Every upgrade keeps what each of them has not got yet, and has limited room for it. */
const mostReceivers = 20;

/** An address list of an organisation has its own means. */
const mostAddresses = 20;

/** What the fields of each format are, beside those that all have. */
const fieldsOf: Readonly<Record<NotificationChannel["format"], readonly (keyof Receiver)[]>> = {
  CLOUDEVENTS: ["url", "urlFile", "urlVariable", "allowHttp", "secretFile", "secretVariable"],
  SLACK: ["url", "urlFile", "urlVariable", "allowHttp"],
  TEAMS: ["url", "urlFile", "urlVariable", "allowHttp"],
  EMAIL: ["smtp", "from", "to"],
};

/** The receivers by id, in the order of the inventory; what is wrong with them goes to `problems`. */
export function notificationReceivers(
  receivers: readonly Receiver[],
  readSecret: SecretReader,
  problems: string[],
): ReadonlyMap<string, NotificationReceiverEntry> {
  const entries = new Map<string, NotificationReceiverEntry>();
  const ids = new Set<string>();
  if (receivers.length > mostReceivers) problems.push(`There are more than ${mostReceivers} notification receivers.`);
  for (const receiver of receivers) {
    const { id, events, format = "CLOUDEVENTS", retryHours = defaultRetryHours } = receiver;
    const reader = new ChannelReader(`notification receiver ${id}`, readSecret, problems);
    if (ids.has(id)) problems.push(`Notification receiver ${id} occurs twice.`);
    ids.add(id);
    if (!/^[\w.-]{1,100}$/.test(id))
      problems.push(
        `The id of notification receiver ${id} must be 1 to 100 letters, digits, dots, hyphens and underscores.`,
      );
    if (events?.length === 0)
      problems.push(`The events of notification receiver ${id} are empty: name some, or remove the field.`);
    for (const field of Object.values(fieldsOf).flat())
      if (receiver[field] !== undefined && !fieldsOf[format].includes(field))
        reader.wrong(`The field ${field} of notification receiver ${id} does not belong to the format ${format}.`);
    const channel = reader.read(format, receiver);
    if (channel) entries.set(id, { id, retryHours, ...(events && { events }), ...channel });
  }
  return entries;
}

/** Reads how one receiver is reached. */
class ChannelReader extends EndpointReader {
  read(format: NotificationChannel["format"], receiver: Receiver): NotificationChannel | undefined {
    if (format === "EMAIL") return this.mail(receiver);
    const url = this.url(receiver);
    if (format !== "CLOUDEVENTS") return url === undefined ? undefined : { format, url };
    const secrets = this.secrets(receiver);
    return url === undefined ? undefined : { format, url, secrets };
  }

  private mail({ smtp, from = "", to = [] }: Receiver): MailChannel | undefined {
    const sender = parseMailAddress(from) ?? this.wrong(`The from of ${this.who} must be one e-mail address.`);
    const recipients = to.flatMap((address) => parseMailAddress(address) ?? []);
    if (recipients.length !== to.length || to.length === 0 || to.length > mostAddresses)
      this.wrong(`The to of ${this.who} must be 1 to ${mostAddresses} e-mail addresses.`);
    const server = smtp ? this.smtp(smtp) : this.wrong(`The ${this.who} has no smtp.`);
    return sender && server && { format: "EMAIL", smtp: server, from: sender, to: recipients };
  }

  private smtp(smtp: NonNullable<Receiver["smtp"]>): MailChannel["smtp"] | undefined {
    const { host, tls = "STARTTLS", port = { STARTTLS: 587, IMPLICIT: 465, NONE: 25 }[tls], username } = smtp;
    const server = { host, port, tls };
    if (!/^[\w.:-]{1,253}$/.test(host))
      return this.wrong(`The smtp.host of ${this.who} must be a host name or an address.`);
    if (tls === "NONE" && !isLoopback(host)) {
      if (smtp.allowPlaintext !== true)
        this.wrong(
          `The smtp.tls of ${this.who} is NONE, so others on the network can read mail: use STARTTLS or IMPLICIT, or set allowPlaintext.`,
        );
      if (username !== undefined) this.wrong(`The smtp of ${this.who} has a username, which is sent with TLS only.`);
    }
    const place = { file: smtp.passwordFile, variable: smtp.passwordVariable };
    if (username === undefined) {
      if (place.file === undefined && place.variable === undefined) return server;
      return this.wrong(`The smtp of ${this.who} has a password without a username.`);
    }
    const password = this.secret("smtp password", "smtp.passwordFile nor smtp.passwordVariable", place);
    return password === undefined ? undefined : { ...server, credentials: { username, password } };
  }
}

/**
 * An address as it is written in the inventory: `ops@example.com`, or `Operations <ops@example.com>`. Undefined where it is
 * anything else; ASCII alone, because not every server takes more, and no line breaks, which would begin another header.
 */
function parseMailAddress(text: string): MailAddress | undefined {
  const [, name = "", bracketed] = /^([^<>"\p{Cc}]{0,100}?) ?<([^<>]+)>$/u.exec(text) ?? [];
  const address = bracketed ?? text;
  const isAddress = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z\d](?:[A-Za-z\d.-]{0,251}[A-Za-z\d])?$/.test(address);
  return isAddress ? { name: name.trim(), address } : undefined;
}
