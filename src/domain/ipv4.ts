const decimal = /^(0|[1-9]\d{0,2})$/;

/**
 * An IPv4 address in dotted decimal as a number from 0 to 2^32 - 1; undefined where the text is none. Not by ipaddr.js:
 * the domain runs in the Workflow sandbox too and takes no further package.
 */
export function parseIpv4(text: string): number | undefined {
  const parts = text.split(".");
  // Leading zeros mean octal to some readers and decimal to others, so they mean nothing here.
  if (parts.length !== 4 || !parts.every((part) => decimal.test(part) && Number(part) <= 255)) return undefined;
  return parts.reduce((address, part) => address * 256 + Number(part), 0);
}

/**
 * Whether a text is a dotted IPv4 address that a machine can have in a network: neither of "this network" (0/8) nor of
 * the machine itself (127/8), nor multicast, reserved or broadcast (from 224.0.0.0 on).
 */
export function isIpv4Address(text: string): boolean {
  const address = parseIpv4(text);
  if (address === undefined) return false;
  const first = Math.floor(address / 2 ** 24);
  return first !== 0 && first !== 127 && first < 224;
}

/**
 * Whether an address is one of a machine within its subnet, and not the subnet's own or its broadcast address (with 31
 * bits there is neither). False where one of the two is none.
 */
export function isHostOfSubnet(text: string, mask: string): boolean {
  const length = prefixLength(mask);
  const address = parseIpv4(text);
  if (length === undefined || address === undefined) return false;
  const subnetSize = 2 ** (32 - length);
  const place = address % subnetSize;
  return length === 31 || (place !== 0 && place !== subnetSize - 1);
}

/**
 * The prefix length in bits of a subnet mask in dotted decimal, such as 24 of `255.255.255.0`. Undefined where the text
 * is no contiguous mask, or one in which a machine and its gateway have no room (0 and 32 bits).
 */
export function prefixLength(mask: string): number | undefined {
  const bits = parseIpv4(mask)?.toString(2).padStart(32, "0");
  return bits && /^1{1,31}0+$/.test(bits) ? bits.indexOf("0") : undefined;
}

/** Whether two addresses are in the same subnet of a mask; false where one of the three is none. */
export function sameSubnet(one: string, other: string, mask: string): boolean {
  const length = prefixLength(mask);
  const [a, b] = [parseIpv4(one), parseIpv4(other)];
  if (length === undefined || a === undefined || b === undefined) return false;
  const subnetSize = 2 ** (32 - length);
  return Math.floor(a / subnetSize) === Math.floor(b / subnetSize);
}
