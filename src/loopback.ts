/** Whether only this machine can reach what listens on a host, or is meant by the host of a URL. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || /^\[?::1\]?$/.test(host) || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** A header by which a request shows that it is not meant for this service, or comes from a page of another. */
export interface ForeignHeader {
  readonly header: "Host" | "Origin";
  readonly value: string;
}

/**
 * What is foreign about a request to a server that asks for no credentials: a web page reaches such a server under a
 * name of its own that is bound to a loopback address, which `Host` tells, or from its own place, which `Origin` tells.
 * Undefined where nothing is. `isOurs` is asked for the host in lower case, without its port; an IPv6 address in brackets.
 */
export function findForeignHeader(
  { host, origin }: { readonly host?: string | undefined; readonly origin?: string | undefined },
  isOurs: (host: string) => boolean = isLoopback,
): ForeignHeader | undefined {
  if (host !== undefined && !isOurs(hostName(host))) return { header: "Host", value: host };
  if (origin !== undefined && !isOurs(originHost(origin))) return { header: "Origin", value: origin };
  return undefined;
}

/** Empty where the header is no host with or without a port. */
function hostName(header: string): string {
  return /^(\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i.exec(header)?.[1]?.toLowerCase() ?? "";
}

/** Empty of `null`, which sandboxed pages send. */
function originHost(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : "";
}
