import type { SimulatorConfig } from "../config/simulator-config";
import type { ClusterState, ScanSnapshot } from "../state/simulator-state";
import { hostInfo } from "./apply-result";
import { baseImage } from "./image-view";
import { notification } from "./localizable";

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
      errors: [notification("ERROR", { id: "host.downgrade", message: "The host is newer than the image.", at })],
    };
  return {};
}

function hostCompliance(config: SimulatorConfig, scan: ScanSnapshot, host: HostScan) {
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
      current: baseImage(config, host.version),
      target: baseImage(config, scan.version),
    },
    add_on: { status: "COMPLIANT", notifications: {} },
    components: {},
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
