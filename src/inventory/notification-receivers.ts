import * as E from "fp-ts/Either";
import type { NotificationType } from "../domain/notifications/upgrade-notification";
import { isLoopback } from "../loopback";
import type { InventoryContent } from "./inventory-content";
import type { SecretReader } from "./read-secret";

/** Who is told what happens to upgrades; holds secrets, and its URL may hold one, so it is never logged. */
export interface NotificationReceiverEntry {
  readonly id: string;
  readonly url: string;
  /** What it wants to be told; absent means everything. */
  readonly events?: readonly NotificationType[];
  /** Hours after which a notification that cannot be delivered is given up. */
  readonly retryHours: number;
  /** With the prefix `whsec_`; every one of them signs. Never empty. */
  readonly secrets: readonly string[];
}

const defaultRetryHours = 24;

/** Every upgrade keeps what each of them has not got yet, and has limited room for it. */
const mostReceivers = 20;

/** The receivers by id, in the order of the inventory; what is wrong with them goes to `problems`. */
export function notificationReceivers(
  receivers: NonNullable<InventoryContent["notificationReceivers"]>,
  readSecret: SecretReader,
  problems: string[],
): ReadonlyMap<string, NotificationReceiverEntry> {
  const entries = new Map<string, NotificationReceiverEntry>();
  if (receivers.length > mostReceivers) problems.push(`There are more than ${mostReceivers} notification receivers.`);
  for (const receiver of receivers) {
    const { id, url, events, allowHttp = false, retryHours = defaultRetryHours } = receiver;
    const who = `notification receiver ${id}`;
    if (entries.has(id)) problems.push(`Notification receiver ${id} is there twice.`);
    if (!/^[\w.-]{1,100}$/.test(id))
      problems.push(`The id of ${who} must be 1 to 100 letters, digits, dots, hyphens and underscores.`);
    problems.push(...problemsOfUrl(who, url, allowHttp));
    if (events?.length === 0) problems.push(`The events of ${who} are empty: name some, or leave the field out.`);
    const read = readSecret(`secret of ${who}`, { file: receiver.secretFile, variable: receiver.secretVariable });
    if (E.isLeft(read)) problems.push(read.left);
    else if (read.right === undefined) problems.push(`The ${who} has neither secretFile nor secretVariable.`);
    const secrets = (E.isRight(read) && read.right?.split(/\s+/).filter((secret) => secret !== "")) || [];
    if (E.isRight(read) && read.right !== undefined && (secrets.length === 0 || !secrets.every(isSecret)))
      problems.push(`The secret of ${who} must be whsec_ and 24 to 64 bytes in base64; several are one a line.`);
    entries.set(id, { id, url, ...(events && { events }), retryHours, secrets });
  }
  return entries;
}

/** What is wrong with a URL, without saying it: it may hold a token. */
function problemsOfUrl(who: string, url: string, allowHttp: boolean): readonly string[] {
  const { protocol, username, password, hostname } = URL.canParse(url) ? new URL(url) : noUrl;
  if (!["http:", "https:"].includes(protocol) || username !== "" || password !== "")
    return [`The url of ${who} must begin with https:// and hold neither user nor password.`];
  // What is told names clusters and hosts, and the URL often is what the receiver trusts.
  if (protocol === "http:" && !allowHttp && !isLoopback(hostname))
    return [
      `The url of ${who} begins with http://, which anybody on the way can read: use https://, or set allowHttp.`,
    ];
  return [];
}

const noUrl = { protocol: "", username: "", password: "", hostname: "" };

/** As Standard Webhooks has it. */
function isSecret(secret: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  if (base64 === undefined || base64.length % 4 !== 0) return false;
  const { length } = Buffer.from(base64, "base64");
  return length >= 24 && length <= 64;
}
