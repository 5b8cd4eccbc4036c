/** The 32 bits of a dotted IPv4 address; undefined where it is none. Leading zeros are refused: they mean octal to some. */
function bitsOf(address: string): number | undefined {
  const octets = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/
    .exec(address)
    ?.slice(1)
    .map(Number);
  if (!octets?.every((octet) => octet <= 255)) return undefined;
  return octets.reduce((bits, octet) => bits * 256 + octet, 0);
}

/** Whether a text is a dotted IPv4 address that a machine can have. */
export function isIpv4Address(text: string): boolean {
  const bits = bitsOf(text);
  return bits !== undefined && bits !== 0 && bits !== 0xffffffff;
}

/** The length in bits of the prefix that a subnet mask such as `255.255.255.0` stands for; undefined for other texts. */
export function prefixLength(mask: string): number | undefined {
  const bits = bitsOf(mask);
  if (bits === undefined || bits === 0) return undefined;
  const hostBits = Math.log2(2 ** 32 - bits);
  return Number.isInteger(hostBits) ? 32 - hostBits : undefined;
}

/** Whether two addresses are in the same subnet of a mask; false where one of the three is none. */
export function sameSubnet(one: string, other: string, mask: string): boolean {
  const length = prefixLength(mask);
  const [a, b] = [bitsOf(one), bitsOf(other)];
  if (length === undefined || a === undefined || b === undefined) return false;
  const subnetSize = 2 ** (32 - length);
  return Math.floor(a / subnetSize) === Math.floor(b / subnetSize);
}
