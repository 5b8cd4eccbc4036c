import type { SimulatorConfig } from "../config/simulator-config";
import type { Image, ImageExtras } from "../state/image-extras";
import type { ClusterState, ScanSnapshot } from "../state/simulator-state";
import { hostInfo } from "./apply-result";
import { notification } from "./vapi-error";

type HostScan = ScanSnapshot["hosts"][string];

function impactOf(status: HostScan["status"]) {
  if (status === "NON_COMPLIANT") return "REBOOT_REQUIRED";
  return status === "COMPLIANT" ? "NO_IMPACT" : "UNKNOWN";
}

const stageStatus = ({ staged, status }: HostScan) =>
  status === "UNAVAILABLE" ? "UNKNOWN" : staged || status === "COMPLIANT" ? "STAGED" : "NOT_STAGED";

function notificationsOf(host: HostScan, at: number) {
  if (host.status === "UNAVAILABLE")
    return { errors: [notification("ERROR", { id: "host.unavailable", message: "The host is not connected.", at })] };
  if (host.status === "INCOMPATIBLE")
    return {
      errors: [
        notification("ERROR", { id: "host.incompatible", message: host.refusal ?? "The image does not fit.", at }),
      ],
    };
  return {};
}

/** How one part of a host compares with the image's; absent where neither has it. */
function partOf<A>(has: A | undefined, wants: A | undefined, view: (part: A) => object) {
  const isSame = JSON.stringify(has) === JSON.stringify(wants);
  return {
    status: isSame ? "COMPLIANT" : "NON_COMPLIANT",
    ...(has !== undefined && { current: view(has) }),
    ...(wants !== undefined && { target: view(wants) }),
    notifications: {},
  };
}

const namesOf = (...records: (Record<string, unknown> | undefined)[]) => [
  ...new Set(records.flatMap((record) => Object.keys(record ?? {}))),
];

/** Add-on, components and firmware of a host beside those of the image. */
function extrasCompliance(config: SimulatorConfig, has: ImageExtras = {}, wants: ImageExtras = {}) {
  const managers = namesOf(has.hardwareSupport, wants.hardwareSupport);
  const firmware = managers.map((manager) => [
    manager,
    {
      ...partOf(has.hardwareSupport?.[manager], wants.hardwareSupport?.[manager], ({ pkg, version }) => ({
        pkg,
        version,
      })),
      hardware_modules: {},
    },
  ]);
  const components = namesOf(has.components, wants.components).map((name) => [
    name,
    {
      ...partOf(has.components?.[name], wants.components?.[name], (version) => component(config, name, version)),
      ...(has.components?.[name] !== undefined && { current_source: "USER" }),
      ...(wants.components?.[name] !== undefined && { target_source: "USER" }),
    },
  ]);
  return {
    add_on: partOf(has.addOn, wants.addOn, (part) => addOn(config, part)),
    components: Object.fromEntries(components) as Record<string, object>,
    ...(managers.length > 0 && { hardware_support: Object.fromEntries(firmware) as Record<string, object> }),
  };
}

/** The views of hosts as scans have found them, which are not changed: a remediation puts another one in its place. */
const known = new WeakMap<HostScan, object>();

function hostCompliance(config: SimulatorConfig, scan: ScanSnapshot, host: HostScan): object {
  let view = known.get(host);
  if (!view) known.set(host, (view = viewOf(config, scan, host)));
  return view;
}

function viewOf(config: SimulatorConfig, scan: ScanSnapshot, host: HostScan) {
  const notifications = notificationsOf(host, scan.at);
  const stage_status = stageStatus(host);
  const common = { status: host.status, stage_status, notifications };
  return {
    ...common,
    impact: impactOf(host.status),
    scan_time: new Date(scan.at).toISOString(),
    commit: scan.commit,
    base_image: {
      ...common,
      ...(host.status === "NON_COMPLIANT" && host.version === scan.version && { status: "COMPLIANT" }),
      current: baseImage(config, host.version),
      target: baseImage(config, scan.version),
    },
    ...extrasCompliance(config, host.extras, scan.extras),
    solutions: {},
  };
}

/** The worst of the hosts' statuses, by which the product sums a cluster up. */
const bySeverity = ["UNAVAILABLE", "INCOMPATIBLE", "NON_COMPLIANT", "COMPLIANT"] as const;

/** How the hosts of a cluster compare with its desired image, as a scan found it. */
export function clusterCompliance(config: SimulatorConfig, cluster: ClusterState, scan: ScanSnapshot) {
  const hosts = Object.entries(scan.hosts);
  const having = (status: HostScan["status"]) => hosts.filter(([, host]) => host.status === status).map(([id]) => id);
  const status = bySeverity.find((candidate) => having(candidate).length > 0) ?? "COMPLIANT";
  return {
    impact: having("NON_COMPLIANT").length > 0 ? "REBOOT_REQUIRED" : impactOf(status),
    status,
    stage_status: hosts.every(([, host]) => stageStatus(host) === "STAGED") ? "STAGED" : "NOT_STAGED",
    notifications: {},
    scan_time: new Date(scan.at).toISOString(),
    commit: scan.commit,
    compliant_hosts: having("COMPLIANT"),
    non_compliant_hosts: having("NON_COMPLIANT"),
    incompatible_hosts: having("INCOMPATIBLE"),
    unavailable_hosts: having("UNAVAILABLE"),
    hosts: Object.fromEntries(hosts.map(([id, host]) => [id, hostCompliance(config, scan, host)])),
    host_info: hostInfo(
      cluster,
      hosts.map(([id]) => id),
    ),
  };
}

const unknownRelease = "2025-01-01T00:00:00.000Z";

/** A base image with what the depot says of it; details are absent where the depot does not have it. */
export function baseImage(config: SimulatorConfig, version: string) {
  const offered = config.depot.find((image) => image.version === version);
  return {
    version,
    ...(offered && {
      details: {
        display_name: offered.displayName ?? "ESX",
        display_version: version.split("-")[0] ?? version,
        release_date: offered.releaseDate ?? unknownRelease,
      },
    }),
  };
}

interface Named {
  readonly name: string;
  readonly version: string;
}

const detailsOf = (list: SimulatorConfig["addOns"], { name, version }: Named) => {
  const offered = list?.find((offer) => offer.name === name && offer.version === version);
  return offered
    ? {
        details: {
          display_name: offered.displayName ?? name,
          vendor: offered.vendor ?? "VENDOR",
          display_version: version,
        },
      }
    : {};
};

/** A vendor's add-on with what the depot says of it. */
function addOn(config: SimulatorConfig, { name, version }: Named) {
  return { name, version, ...detailsOf(config.addOns, { name, version }) };
}

/** A single component with what the depot says of it. */
function component(config: SimulatorConfig, name: string, version: string) {
  return { version, ...detailsOf(config.components, { name, version }) };
}

/** A desired image; there are never solutions of other products in it here. */
export function software(config: SimulatorConfig, { version, extras = {} }: Image) {
  const { addOn: addOnOf, components = {}, hardwareSupport = {} }: ImageExtras = extras;
  return {
    base_image: baseImage(config, version),
    ...(addOnOf && { add_on: addOn(config, addOnOf) }),
    components: Object.fromEntries(Object.entries(components).map(([name, v]) => [name, component(config, name, v)])),
    solutions: {},
    ...(Object.keys(hardwareSupport).length > 0 && { hardware_support: { packages: hardwareSupport } }),
  };
}
