import type { IncomingMessage } from "node:http";
import { BlockList, isIP, isIPv6 } from "node:net";

/** What of a request tells where it comes from. */
interface Traced extends Pick<IncomingMessage, "headersDistinct"> {
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Tells from which network address a request comes. */
export type ClientAddress = (request: Traced) => string;

/**
 * The address at the other end of the connection. Where that is a trusted proxy, an address or a network such as
 * `10.0.0.0/8`, it is the last one in X-Forwarded-For that is not itself trusted: whatever stands before that could have
 * been written by the client.
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = new BlockList();
  for (const proxy of trustedProxies) {
    const [address = "", bits] = proxy.split("/");
    if (bits === undefined) trusted.addAddress(address, familyOf(address));
    else trusted.addSubnet(address, Number(bits), familyOf(address));
  }
  const isTrusted = (address: string) => isIP(address) !== 0 && trusted.check(address, familyOf(address));
  return ({ socket, headersDistinct }) => {
    const forwarded = (headersDistinct["x-forwarded-for"] ?? []).flatMap((value) => value.split(","));
    let address = plain(socket.remoteAddress ?? "");
    while (isTrusted(address)) {
      const before = plain(forwarded.pop()?.trim() ?? "");
      if (isIP(before) === 0) break;
      address = before;
    }
    return address;
  };
}

/** Whether a text is an address, or a network with the length of its prefix. */
export function isAddressOrNetwork(text: string): boolean {
  const [, address = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && (bits === undefined || Number(bits) <= (family === 4 ? 32 : 128));
}

/** An IPv4 address that a listener for both families has written as IPv6. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

/** An IPv6 network is given out as a whole, so its 64 leading bits count as one address. */
export function networkOf(address: string): string {
  const known = plain(address);
  if (!isIPv6(known)) return known;
  const [before = "", after] = known.replace(/%.*$/, "").split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const [head, tail] = [groups(before), groups(after ?? "")];
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length;
  const all = [...head, ...Array.from({ length: Math.max(0, zeros) }, () => "0"), ...tail];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
