import * as E from "fp-ts/Either";
import type { NoticeType } from "../domain/upgrade-notice";
import type { InventoryContent } from "./inventory-content";
import type { SecretReader } from "./read-secret";

/** Who is told what happens to upgrades; holds secrets, and its URL may hold one, so it is never logged. */
export interface NotificationReceiverEntry {
  readonly id: string;
  readonly url: string;
  /** What it wants to be told; absent means everything. */
  readonly events?: readonly NoticeType[];
  /** Hours after which a notification that cannot be delivered is given up. */
  readonly retryHours: number;
  /** With the prefix `whsec_`; every one of them signs. Never empty. */
  readonly secrets: readonly string[];
}

const defaultRetryHours = 24;

/** The receivers by id, in the order of the inventory; what is wrong with them goes to `problems`. */
export function notificationReceivers(
  receivers: NonNullable<InventoryContent["notificationReceivers"]>,
  readSecret: SecretReader,
  problems: string[],
): ReadonlyMap<string, NotificationReceiverEntry> {
  const entries = new Map<string, NotificationReceiverEntry>();
  for (const receiver of receivers) {
    const { id, url, events, retryHours = defaultRetryHours } = receiver;
    const who = `notification receiver ${id}`;
    if (entries.has(id)) problems.push(`Notification receiver ${id} is there twice.`);
    if (!/^[\w.-]{1,100}$/.test(id))
      problems.push(`The id of ${who} must be 1 to 100 letters, digits, dots, hyphens and underscores.`);
    if (!isReceiverUrl(url))
      problems.push(`The url of ${who} must begin with http:// or https:// and hold neither user nor password.`);
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

function isReceiverUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return ["http:", "https:"].includes(protocol) && username === "" && password === "";
}

/** As Standard Webhooks has it. */
function isSecret(secret: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  if (base64 === undefined || base64.length % 4 !== 0) return false;
  const { length } = Buffer.from(base64, "base64");
  return length >= 24 && length <= 64;
}
