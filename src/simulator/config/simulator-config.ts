import { readFileSync } from "node:fs";
import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { parse } from "yaml";
import { Identifier, IntegerBetween, ListOf, model, OneOf } from "../../domain/codec";
import { nsxContradictions, NsxManagerConfig } from "../nsx/nsx-state";
import { ApplianceConfig } from "../vcsa/vcsa-state";
import { decodeStrictly } from "./decode-strictly";

/** The most hosts that a cluster of the product holds. */
const maximumHosts = 128;

const HostCount = IntegerBetween(1, maximumHosts);

/**
 * A HOSTOS base image that the depot offers; `version` is as on the wire, such as `9.0.1-0.24957456`. A host of one of
 * the versions `livePatchFrom` can be brought to it without a reboot. `metadataUrl` is where hosts of baseline-managed
 * clusters find it.
 */
export const DepotImage = model(
  { version: Identifier },
  { displayName: Identifier, releaseDate: Identifier, livePatchFrom: ListOf(Identifier), metadataUrl: Identifier },
);
export type DepotImage = t.TypeOf<typeof DepotImage>;

const offer = { displayName: Identifier, vendor: Identifier, needsReboot: t.boolean };

/** A vendor's add-on, or a single component, that the depot offers. `needsReboot` excludes it from live patches. */
export const DepotPart = model({ name: Identifier, version: Identifier }, offer);

/** Firmware that a hardware support manager offers. */
export const DepotFirmware = model({ manager: Identifier, package: Identifier, version: Identifier }, offer);

/**
 * A cluster of the inventory. `hosts` is how many there are; their names are made from `hostNames`, in which `{n}`,
 * `{nn}` and `{nnn}` stand for the host's number (from `firstHost`, 1) with at least so many digits.
 */
export const ClusterConfig = model(
  { name: Identifier, hosts: HostCount },
  {
    id: Identifier,
    hostNames: Identifier,
    firstHost: IntegerBetween(0, 9999),
    management: OneOf("IMAGE", "BASELINE"),
    version: Identifier,
    admissionControl: t.boolean,
    dpm: t.boolean,
    poweredOnVms: IntegerBetween(0, 1000, "VMs a host"),
    poweredOffVms: IntegerBetween(0, 1000, "VMs a host"),
  },
);
export type ClusterConfig = t.TypeOf<typeof ClusterConfig>;

/** The inventory and depot of the simulated component manager (docs/simulator.md). */
export const SimulatorConfig = model(
  { depot: ListOf(DepotImage, { min: 1 }), hostVersion: Identifier },
  {
    clusters: ListOf(ClusterConfig),
    nsxManagers: ListOf(NsxManagerConfig),
    addOns: ListOf(DepotPart),
    components: ListOf(DepotPart),
    hardwareSupport: ListOf(DepotFirmware),
    /** Many clusters of one kind beside the named ones, for load tests. */
    generate: model(
      { clusters: IntegerBetween(1, 1000), hosts: HostCount },
      { management: OneOf("IMAGE", "BASELINE") },
    ),
    managementServer: ApplianceConfig,
    sessions: model(
      {},
      { idleSeconds: IntegerBetween(1, 604_800, "seconds"), absoluteSeconds: IntegerBetween(1, 604_800, "seconds") },
    ),
  },
);
export type SimulatorConfig = t.TypeOf<typeof SimulatorConfig>;

function duplicates(values: readonly string[], path: (index: number) => string): string[] {
  return values.flatMap((value, i) => (values.indexOf(value) < i ? [`${path(i)}: ${value} is already taken`] : []));
}

function contradictions(config: SimulatorConfig): string[] {
  const clusters = config.clusters ?? [];
  const offered = new Set(config.depot.map(({ version }) => version));
  const notOffered = (version: string | undefined, path: string) =>
    version === undefined || offered.has(version) ? [] : [`${path}: ${version} is not in the depot`];
  return [
    ...(clusters.length === 0 && !config.generate ? ["clusters: name at least one, or use generate"] : []),
    ...nsxContradictions(
      config.nsxManagers ?? [],
      clusters.map(({ name }) => name),
    ),
    ...notOffered(config.hostVersion, "hostVersion"),
    ...clusters.flatMap(({ version }, i) => notOffered(version, `clusters[${i}].version`)),
    ...duplicates(
      config.depot.map(({ version }) => version),
      (i) => `depot[${i}].version`,
    ),
    ...config.depot.flatMap(({ livePatchFrom = [] }, i) =>
      livePatchFrom.flatMap((version) => notOffered(version, `depot[${i}].livePatchFrom`)),
    ),
    ...(["addOns", "components"] as const).flatMap((list) =>
      duplicates(
        (config[list] ?? []).map(({ name, version }) => `${name} ${version}`),
        (i) => `${list}[${i}]`,
      ),
    ),
    ...duplicates(
      (config.hardwareSupport ?? []).map((offered) => `${offered.manager} ${offered.package} ${offered.version}`),
      (i) => `hardwareSupport[${i}]`,
    ),
    ...duplicates(
      clusters.map(({ name }) => name),
      (i) => `clusters[${i}].name`,
    ),
    ...duplicates(
      clusters.map(({ id }, i) => id ?? `without id ${i}`),
      (i) => `clusters[${i}].id`,
    ),
  ];
}

/** A configuration from parsed YAML or JSON, or every reason why it is none, each begun by the path of the field. */
export function decodeSimulatorConfig(input: unknown): E.Either<string[], SimulatorConfig> {
  const decoded = decodeStrictly(SimulatorConfig, input);
  if (E.isLeft(decoded)) return decoded;
  const problems = contradictions(decoded.right);
  return problems.length > 0 ? E.left(problems) : decoded;
}

/** Reads `config/simulator.yaml` or another file of its form. On the left: everything that is wrong with it. */
export function readSimulatorConfig(file: string): E.Either<string[], SimulatorConfig> {
  let document: unknown;
  try {
    document = parse(readFileSync(file, "utf8"));
  } catch (error) {
    return E.left([(error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "unreadable"]);
  }
  return decodeSimulatorConfig(document);
}
