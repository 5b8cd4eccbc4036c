import type { MailAddress } from "../domain/notifications/notification-channel";

/**
 * An address as it is written in the inventory: `ops@example.com`, or `Operations <ops@example.com>`. Undefined where it is
 * anything else; ASCII alone, because not every server takes more, and no line breaks, which would begin another header.
 */
export function parseMailAddress(text: string): MailAddress | undefined {
  const [, name = "", bracketed] = /^([^<>"\p{Cc}]{0,100}?) ?<([^<>]+)>$/u.exec(text) ?? [];
  const address = bracketed ?? text;
  const isAddress = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z\d](?:[A-Za-z\d.-]{0,251}[A-Za-z\d])?$/.test(address);
  return isAddress ? { name: name.trim(), address } : undefined;
}
