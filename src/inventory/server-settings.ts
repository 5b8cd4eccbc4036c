import * as E from "fp-ts/Either";
import { isIpv4Address } from "../domain/ipv4";
import type { InventoryContent } from "./inventory-content";
import type { SecretReader } from "./read-secret";

/** What an upgrade of a management server needs beside its access; holds secrets, so it is never logged. */
export interface ServerSettings {
  /** DNS servers of a new appliance with a STATIC temporary address. */
  readonly dnsServers: readonly string[];
  /** Root password of a new appliance until the switchover. */
  readonly temporaryRootPassword?: string;
  /** Answers to the questions of an update, by the product's name of each. */
  readonly answers: Readonly<Record<string, string>>;
}

/** Settings of the management servers by resource id; what is wrong with them goes to `problems`. */
export function serverSettings(
  servers: NonNullable<InventoryContent["managementServers"]>,
  readSecret: SecretReader,
  problems: string[],
): ReadonlyMap<string, ServerSettings> {
  const settings = new Map<string, ServerSettings>();
  for (const server of servers) {
    const { resourceId, name, dnsServers = [], answers = [] } = server;
    const secretOf = (what: string, place: { file?: string | undefined; variable?: string | undefined }) => {
      const secret = readSecret(`${what} of management server ${name}`, place);
      if (E.isRight(secret)) return secret.right;
      problems.push(secret.left);
      return undefined;
    };
    for (const address of dnsServers.filter((address) => !isIpv4Address(address)))
      problems.push(`DNS server ${address} of management server ${name} is no IPv4 address.`);
    const temporaryRootPassword = secretOf("temporary root password", {
      file: server.temporaryRootPasswordFile,
      variable: server.temporaryRootPasswordVariable,
    });
    const given: Record<string, string> = {};
    for (const { item, valueFile, valueVariable } of answers) {
      if (item in given) problems.push(`Answer ${item} of management server ${name} is there twice.`);
      if (valueFile === undefined && valueVariable === undefined)
        problems.push(`Answer ${item} of management server ${name} has neither valueFile nor valueVariable.`);
      const value = secretOf(`answer ${item}`, { file: valueFile, variable: valueVariable });
      if (value !== undefined) given[item] = value;
    }
    settings.set(resourceId, {
      dnsServers,
      ...(temporaryRootPassword !== undefined && { temporaryRootPassword }),
      answers: given,
    });
  }
  return settings;
}
