import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import * as E from "fp-ts/Either";
import type * as t from "io-ts";
import { parse } from "yaml";
import { isIpv4Address } from "../domain/ipv4";
import { placeOf } from "../domain/opening";
import { defaultRolloutPolicy, type Installations, type MgmtFacts, type NetvirtFacts } from "../domain/plan/facts";
import type { RolloutPolicy } from "../domain/plan/upgrade-plan";
import { unknownFieldLines } from "../domain/unknown-fields";
import { isSameVersion } from "../domain/version";
import { InventoryContent } from "./inventory-content";
import { type MaintenanceCalendar, maintenanceCalendar } from "./maintenance-calendar";
import { type NotificationReceiverEntry, notificationReceivers } from "./notification-receivers";
import { type OwnCheckEntry, ownChecks } from "./own-checks";
import { secretReader, type SecretReader } from "./read-secret";

/** How a component manager is reached; holds a password, so it is never logged. */
export interface ComponentManagerEntry {
  readonly id: string;
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/** A cluster that can be upgraded. `cluster` is its id at its component manager. */
export interface ClusterEntry {
  readonly resourceId: string;
  readonly name: string;
  readonly domain: string;
  readonly domainName: string;
  readonly platformVersion: string;
  readonly rollout: RolloutPolicy;
  /** How many approvals an upgrade of it needs. */
  readonly approvals?: number;
  /** Id of its maintenance window, its own or its domain's. */
  readonly maintenanceWindow?: string;
  readonly managementServer?: string;
  readonly componentManagerId: string;
  readonly cluster: string;
}

export interface InventoryFile {
  readonly componentManagers: ReadonlyMap<string, ComponentManagerEntry>;
  /** By resource id. */
  readonly clusters: ReadonlyMap<string, ClusterEntry>;
  readonly installations: Installations;
  /** By resource id. */
  readonly serverSettings: ReadonlyMap<string, ServerSettings>;
  readonly patches: Patches;
  readonly calendar: MaintenanceCalendar;
  /** By id, in the order of the inventory. */
  readonly checks: ReadonlyMap<string, OwnCheckEntry>;
  /** By id. */
  readonly notificationReceivers: ReadonlyMap<string, NotificationReceiverEntry>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the inventory (docs/configuration.md). `${NAME}` and `${NAME:-default}` in it are replaced from the
 * environment. On the left: everything that is wrong with it, a line each.
 */
export function readInventoryFile(file: string, environment: Environment): E.Either<readonly string[], InventoryFile> {
  let content: unknown;
  try {
    content = parse(substituted(readFileSync(file, "utf8"), environment));
  } catch (error) {
    return E.left([firstLine(error)]);
  }
  const decoded = InventoryContent.decode(content);
  const unknown = unknownFieldLines(InventoryContent, content);
  if (E.isLeft(decoded)) return E.left([...unknown, ...new Set(decoded.left.map(whatIsWrong))]);
  if (unknown.length > 0) return E.left(unknown);
  return linked(decoded.right, dirname(file), environment);
}

/** Follows every reference: domains, component managers, passwords, ids that must be unique. */
function linked(
  content: InventoryContent,
  folder: string,
  environment: Environment,
): E.Either<readonly string[], InventoryFile> {
  const problems: string[] = [];
  const readSecret = secretReader(folder, environment);
  const componentManagers = new Map<string, ComponentManagerEntry>();
  for (const manager of content.componentManagers) {
    const { id, url, username } = manager;
    if (componentManagers.has(id)) problems.push(`Component manager ${id} occurs twice.`);
    if (!isHttpUrl(url)) problems.push(`The url of component manager ${id} must begin with http:// or https://.`);
    const place = { file: manager.passwordFile, variable: manager.passwordVariable };
    const password = readSecret(`password of component manager ${id}`, place);
    if (E.isLeft(password)) problems.push(password.left);
    else if (password.right === undefined)
      problems.push(`Component manager ${id} has neither passwordFile nor passwordVariable.`);
    else componentManagers.set(id, { id, url, username, password: password.right });
  }
  for (const { id } of content.domains.filter(({ id }, i) => content.domains.findIndex((d) => d.id === id) < i)) {
    problems.push(`Domain ${id} occurs twice.`);
  }
  const domainNames = new Map(content.domains.map(({ id, name }) => [id, name ?? id]));
  const hostOf = new Map(
    content.componentManagers.map(({ id, url }) => [id, URL.canParse(url) ? new URL(url).hostname : ""]),
  );
  /** A server is known by the name that it is reached by, and by what the inventory says beside. */
  const namesOf = (componentManager: string, sans: readonly string[] = []) => {
    const fqdn = hostOf.get(componentManager) ?? "";
    return fqdn === "" ? {} : { fqdn, sans: [...new Set([fqdn, ...sans])] };
  };
  const versions = new Map(content.domains.map(({ id, platformVersion }) => [id, platformVersion]));
  const managerTypes = new Map(content.componentManagers.map(({ id, type }) => [id, type]));
  const managedBy = (id: string, type: "VCENTER" | "NSX", what: string) => {
    const actual = managerTypes.get(id);
    if (actual === undefined) problems.push(`Component manager ${id} of ${what} is not in the inventory.`);
    else if (actual !== type)
      problems.push(`Component manager ${id} of ${what} is of the type ${actual}, not ${type}.`);
  };
  const managementServers = content.managementServers ?? [];
  const rollouts = new Map(content.domains.map(({ id, rollout }) => [id, rollout]));
  const approvals = new Map(content.domains.map(({ id, approvals: its }) => [id, its?.required ?? 0]));
  const { maintenanceWindows = [], freezes = [] } = content;
  const windows = new Map(content.domains.map(({ id, maintenanceWindow }) => [id, maintenanceWindow]));
  const clusters = new Map<string, ClusterEntry>();
  const places = new Set<string>();
  for (const { resourceId, name, domain, componentManager, cluster, rollout, ...more } of content.clusters) {
    const platformVersion = versions.get(domain);
    const place = `${cluster} of component manager ${componentManager}`;
    if (clusters.has(resourceId)) problems.push(`Cluster ${resourceId} occurs twice.`);
    // A resource id is what is locked: under two ids one cluster could be upgraded twice at the same time.
    if (places.has(place)) problems.push(`Two resource ids stand for ${place}.`);
    places.add(place);
    if (platformVersion === undefined) problems.push(`Domain ${domain} of cluster ${name} is not in the inventory.`);
    managedBy(componentManager, "VCENTER", `cluster ${name}`);
    const server = managementServers.find((one) => one.componentManager === componentManager);
    const maintenanceWindow = more.maintenanceWindow ?? windows.get(domain);
    clusters.set(resourceId, {
      resourceId,
      name,
      domain,
      domainName: domainNames.get(domain) ?? domain,
      platformVersion: platformVersion ?? "",
      rollout: { ...defaultRolloutPolicy, ...rollouts.get(domain), ...rollout },
      componentManagerId: componentManager,
      cluster,
      ...((approvals.get(domain) ?? 0) > 0 && { approvals: approvals.get(domain) ?? 0 }),
      ...(maintenanceWindow !== undefined && { maintenanceWindow }),
      ...(server && { managementServer: server.resourceId }),
    });
  }
  const netvirt = (content.netvirtManagers ?? []).map(
    ({ resourceId, name, domain, componentManager, sans }): NetvirtFacts => {
      const maintenanceWindow = windows.get(domain);
      managedBy(componentManager, "NSX", `NETVIRT manager ${name}`);
      if (!versions.has(domain)) problems.push(`Domain ${domain} of NETVIRT manager ${name} is not in the inventory.`);
      const served = [...clusters.values()].filter((cluster) => cluster.domain === domain);
      const ids = served.map((one) => one.resourceId);
      return {
        resourceId,
        name,
        domain,
        domainName: domainNames.get(domain) ?? domain,
        ...(maintenanceWindow !== undefined && { maintenanceWindow }),
        componentManagerId: componentManager,
        clusters: ids,
        members: served.map(({ resourceId: id, name: its, cluster }) => ({ resourceId: id, name: its, cluster })),
        ...namesOf(componentManager, sans),
      };
    },
  );
  const management = managementServers.map(({ resourceId, name, componentManager, sans }): MgmtFacts => {
    managedBy(componentManager, "VCENTER", `management server ${name}`);
    const served = [...clusters.values()].filter((cluster) => cluster.componentManagerId === componentManager);
    return {
      resourceId,
      name,
      componentManagerId: componentManager,
      clusters: served.map((one) => one.resourceId),
      places: [...new Map(served.map((one) => [JSON.stringify(placeOf(one)), placeOf(one)])).values()],
      ...namesOf(componentManager, sans),
    };
  });
  const { personalities = [] } = content;
  const isos = (content.isos ?? []).map(({ id, name, version }) => ({ id, name, version }));
  const settings = serverSettings(managementServers, readSecret, problems);
  const patches = patchesOf(content, problems);
  const calendar = maintenanceCalendar(maintenanceWindows, freezes);
  if (E.isLeft(calendar)) problems.push(...calendar.left);
  problems.push(...unknownReferences(content));
  const receivers = notificationReceivers(content.notificationReceivers ?? [], readSecret, problems);
  const checks = ownChecks(content.checks ?? [], readSecret, problems);
  problems.push(
    ...[...content.clusters, ...netvirt, ...management].flatMap(({ resourceId }) =>
      // Upgrades could not be found by it: src/temporal/visibility.ts.
      resourceId.includes('"') ? [`The resource id ${resourceId} contains a quotation mark.`] : [],
    ),
    ...twice("NETVIRT manager", netvirt, ({ resourceId }) => resourceId),
    ...twice("Management server", management, ({ resourceId }) => resourceId),
    ...twice("The management server of component manager", management, ({ componentManagerId }) => componentManagerId),
    ...twice("Personality", personalities, ({ id }) => id),
    ...twice("ISO", isos, ({ id }) => id),
  );
  if (problems.length > 0 || E.isLeft(calendar)) return E.left(problems);
  const installations = { netvirt, management, personalities, isos };
  return E.right({
    componentManagers,
    clusters,
    installations,
    serverSettings: settings,
    patches,
    calendar: calendar.right,
    checks,
    notificationReceivers: receivers,
  });
}

/** Windows that a domain or cluster names and domains that a freeze or check names, where the inventory has no such. */
function unknownReferences({
  domains,
  clusters,
  maintenanceWindows = [],
  freezes = [],
  checks = [],
}: InventoryContent): string[] {
  const windows = new Set(maintenanceWindows.map(({ id }) => id));
  const named = [
    ...domains.map(({ id, maintenanceWindow }) => [`domain ${id}`, maintenanceWindow] as const),
    ...clusters.map(({ name, maintenanceWindow }) => [`cluster ${name}`, maintenanceWindow] as const),
  ];
  const known = new Set(domains.map(({ id }) => id));
  return [
    ...named.flatMap(([who, window]) =>
      window === undefined || windows.has(window)
        ? []
        : [`Maintenance window ${window} of ${who} is not in the inventory.`],
    ),
    ...freezes.flatMap(({ id, domains: frozen = [] }) =>
      frozen
        .filter((domain) => !known.has(domain))
        .map((domain) => `Domain ${domain} of freeze ${id} is not in the inventory.`),
    ),
    ...checks.flatMap(({ id, domains: concerned = [] }) =>
      concerned
        .filter((domain) => !known.has(domain))
        .map((domain) => `Domain ${domain} of check ${id} is not in the inventory.`),
    ),
    ...twice("Freeze", freezes, ({ id }) => id),
  ];
}

function twice<T>(what: string, entries: readonly T[], idOf: (entry: T) => string): string[] {
  const ids = entries.map(idOf);
  return ids.filter((id, i) => ids.indexOf(id) < i).map((id) => `${what} ${id} occurs twice.`);
}

function isHttpUrl(url: string): boolean {
  return URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol);
}

function substituted(text: string, environment: Environment): string {
  return text.replace(/^(?!\s*#).*$/gm, (line) =>
    line.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
      const value = environment[name] || fallback;
      if (value === undefined)
        throw new Error(`The inventory uses the environment variable ${name}, which is not set.`);
      return value;
    }),
  );
}

function whatIsWrong({ context }: t.ValidationError): string {
  // The first key is the half of the inventory's codec.
  const [list, place, ...fields] = context.slice(2).map(({ key }) => key);
  if (list === undefined) return "The inventory must have componentManagers, domains and clusters.";
  if (place === undefined) return `${list} is missing or not a list.`;
  // "0" and "1" are the halves of an entry's codec.
  const field = fields.filter((key) => !/^[01]$/.test(key)).join(".");
  return field === "" ? `${list}[${place}] has no fields.` : `${list}[${place}]: ${field} is missing or wrong.`;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}

/** Where hosts of baseline-managed clusters get a HOSTOS version from. */
export interface PatchEntry {
  readonly version: string;
  /** URLs of depots' `metadata.zip`, reachable from the hosts; never empty. */
  readonly metadataUrls: readonly string[];
  /** URLs of single packages, where not everything in the depots is to be installed. */
  readonly vibUrls?: readonly string[];
}

/** The patches of an inventory, looked up by version or, where it is named, by ISO. */
interface Patches {
  find(query: { readonly version: string; readonly customIsoId?: string }): PatchEntry | undefined;
}

/** Patches and ISOs of the inventory; what is wrong with them goes to `problems`. */
function patchesOf({ patches = [], isos = [] }: InventoryContent, problems: string[]): Patches {
  const byVersion = new Map<string, PatchEntry>();
  for (const patch of patches) {
    const { version } = patch;
    if ([...byVersion.keys()].some((other) => isSameVersion(other, version)))
      problems.push(`Patch ${version} occurs twice.`);
    if (patch.metadataUrls.length === 0) problems.push(`Patch ${version} has no metadataUrls.`);
    byVersion.set(version, patch);
  }
  const byIso = new Map(
    isos.flatMap(({ id, version, metadataUrls, vibUrls }): [string, PatchEntry][] =>
      metadataUrls ? [[id, { version, metadataUrls, ...(vibUrls && { vibUrls }) }]] : [],
    ),
  );
  const urls = [...byVersion.values(), ...byIso.values()].flatMap(({ metadataUrls, vibUrls = [] }) => [
    ...metadataUrls,
    ...vibUrls,
  ]);
  for (const url of urls) {
    if (!URL.canParse(url)) problems.push(`${url} of a patch is not a URL.`);
  }
  return {
    find: ({ version, customIsoId }) =>
      customIsoId === undefined
        ? [...byVersion.values()].find((patch) => isSameVersion(patch.version, version))
        : byIso.get(customIsoId),
  };
}

/** What an upgrade of a management server needs beside its access; holds secrets, so it is never logged. */
interface ServerSettings {
  /** DNS servers of a new appliance with a STATIC temporary address. */
  readonly dnsServers: readonly string[];
  /** Root password of a new appliance until the switchover. */
  readonly temporaryRootPassword?: string;
  /** Answers to the questions of an update, by the product's name of each. */
  readonly answers: Readonly<Record<string, string>>;
}

/** Settings of the management servers by resource id; what is wrong with them goes to `problems`. */
function serverSettings(
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
      problems.push(`DNS server ${address} of management server ${name} is not an IPv4 address.`);
    const temporaryRootPassword = secretOf("temporary root password", {
      file: server.temporaryRootPasswordFile,
      variable: server.temporaryRootPasswordVariable,
    });
    const given: Record<string, string> = {};
    for (const { item, valueFile, valueVariable } of answers) {
      if (item in given) problems.push(`Answer ${item} of management server ${name} occurs twice.`);
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
