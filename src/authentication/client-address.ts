import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** What of a request tells where it comes from. */
interface Traced extends Pick<IncomingMessage, "headersDistinct"> {
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Tells from which network address a request comes. */
export type ClientAddress = (request: Traced) => string;

/**
 * The address at the other end of the connection. Where that is a trusted proxy, an address or a network such as
 * `10.0.0.0/8`, it is the last one in X-Forwarded-For that is not itself trusted: whatever stands before that could have
 * been written by the client. proxy-addr would also take a last entry that is no address.
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = trustedProxies.map((proxy) => ipaddr.parseCIDR(asNetwork(proxy)));
  return ({ socket, headersDistinct }) => {
    const forwarded = (headersDistinct["x-forwarded-for"] ?? []).flatMap((value) => value.split(","));
    let address = parse(socket.remoteAddress ?? "");
    while (address && ipaddr.subnetMatch(address, { trusted }, "") === "trusted") {
      const before = parse(forwarded.pop()?.trim() ?? "");
      if (!before) break;
      address = before;
    }
    return address?.toString() ?? "";
  };
}

/** Whether a text is an address, or a network with the length of its prefix. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = ""] = text.split("/");
  return isIP(address) !== 0 && ipaddr.isValidCIDR(asNetwork(text));
}

function asNetwork(text: string): string {
  if (text.includes("/")) return text;
  return `${text}/${isIP(text) === 4 ? 32 : 128}`;
}

/**
 * An address without the interface it was reached by (`%eth0`); an IPv4 address that a listener for both families has
 * written as IPv6 is one of IPv4. Undefined where the text is no address: ipaddr.js alone would also read `10.1`.
 */
function parse(text: string) {
  return isIP(text) === 0 ? undefined : ipaddr.process(text.replace(/%.*/, ""));
}

/** An IPv6 network is given out as a whole, so its 64 leading bits count as one address. */
export function networkOf(address: string): string {
  const known = parse(address);
  if (!known) return address;
  if (!("parts" in known)) return known.toString();
  const network = known.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
