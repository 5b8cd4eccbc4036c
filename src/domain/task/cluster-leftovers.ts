import type { ErrorBody } from "../errors";
import { isInScope } from "../plan/host-scope";
import type { ClusterUpgradePlan } from "../plan/upgrade-plan";
import type { SubTask } from "../spec/task";
import { isSameVersion } from "../version";
import type { ClusterHost } from "./host-remediation";
import { isLeftOut } from "./left-out";

interface LastLook {
  readonly cluster: Pick<ClusterUpgradePlan, "name" | "targetVersion" | "hosts">;
  /** The SubTasks of the hosts that the upgrade knows. */
  readonly known: readonly SubTask[];
  /** Ids of hosts that were in maintenance mode before anything of the cluster was changed. */
  readonly heldBefore: readonly string[];
  /** The hosts of the cluster as they are now. */
  readonly hosts: readonly ClusterHost[];
  /** The upgrade of the cluster has failed or was cancelled: hosts that it has not begun are as others want them. */
  readonly onlyBegun: boolean;
}

/**
 * What is not as it should be at the end of a cluster, one error for each host and matter. The own error of a host that has
 * failed tells of its version and connection.
 */
export function leftoversOf({ cluster, known, heldBefore, hosts, onlyBegun }: LastLook): ErrorBody[] {
  const parts = new Map(known.map((part) => [part.resources?.[0]?.resourceId, part]));
  return hosts.flatMap((host) => {
    const part = parts.get(host.host);
    const isOpen = part?.status === "FAILED" || part?.status === "IN_PROGRESS";
    // Nobody has asked for it: it is as others want it.
    if (part ? isLeftOut(part) : !isInScope(cluster.hosts, host.host)) return [];
    if (onlyBegun && !isOpen && part?.status !== "SUCCESSFUL") return [];
    const isHeld = heldBefore.includes(host.host) || part?.errors?.[0]?.errorCode === "HOST_IN_MAINTENANCE_MODE";
    const { fqdn, version, atTarget, connection, inMaintenanceMode, stoppedVms = [] } = host;
    const wrong = (errorCode: LeftoverCode, message: string): ErrorBody => ({
      errorCode,
      errorType: "FAILED_DEPENDENCY",
      message,
      remediationMessage: remediations[errorCode],
      context: { cluster: cluster.name, host: fqdn },
    });
    const isOther = version !== "" && !isSameVersion(version, cluster.targetVersion);
    const runs = version === "" ? "an unknown version" : version;
    return [
      // A host that was verified and is only not scanned at this moment is at the target.
      ...(!isOpen && !atTarget && (part === undefined || isOther)
        ? [wrong("HOST_NOT_AT_TARGET", `Host ${fqdn} runs ${runs}, not ${cluster.targetVersion}.`)]
        : []),
      ...(!isOpen && connection !== undefined ? [wrong("HOST_DISCONNECTED", `Host ${fqdn} is ${connection}.`)] : []),
      ...(inMaintenanceMode && !isHeld
        ? [wrong("HOST_LEFT_IN_MAINTENANCE_MODE", `Host ${fqdn} is in maintenance mode.`)]
        : []),
      ...(stoppedVms.length > 0 ? [wrong("VMS_NOT_RUNNING", notRunning(fqdn, stoppedVms))] : []),
    ];
  });
}

function notRunning(fqdn: string, vms: readonly string[]): string {
  const more = vms.length > 3 ? ` and ${vms.length - 3} more` : "";
  return `Virtual machines on host ${fqdn} that the upgrade powered off are not running: ${vms.slice(0, 3).join(", ")}${more}.`;
}

/** All of it as the one error of its cluster; `known`: what its policy has tolerated and operators have left out. */
export function clusterWarning(name: string, known: readonly ErrorBody[], leftovers: readonly ErrorBody[]): ErrorBody {
  const [first] = leftovers;
  if (!first && known.length <= 1) return known[0] ?? { message: `Cluster ${name} ended with a warning.` };
  const codes = new Set(leftovers.map(({ errorCode }) => errorCode));
  return {
    errorCode:
      known.length === 0 && codes.size === 1
        ? (first?.errorCode ?? "CLUSTER_LEFT_WITH_WARNINGS")
        : "CLUSTER_LEFT_WITH_WARNINGS",
    errorType: "FAILED_DEPENDENCY",
    message: [...known.map(({ message }) => message), ...(first ? [leftoversText(name, leftovers)] : [])].join(" "),
    remediationMessage:
      codes.size === 1 && first?.remediationMessage ? first.remediationMessage : "Follow the nested errors.",
    nestedErrors: [...known, ...leftovers.slice(0, 10)],
  };
}

/** The error of a cluster that has failed, with what its upgrade has left behind. */
export function errorWithLeftovers(name: string, error: ErrorBody, leftovers: readonly ErrorBody[]): ErrorBody {
  return {
    ...error,
    message: `${error.message} ${leftoversText(name, leftovers)}`,
    nestedErrors: [...(error.nestedErrors ?? []), ...leftovers.slice(0, 10)],
  };
}

function leftoversText(name: string, leftovers: readonly ErrorBody[]): string {
  const shown = leftovers.slice(0, 3).map(({ message }) => message);
  const more = leftovers.length > shown.length ? [`And ${leftovers.length - shown.length} more.`] : [];
  return [`Cluster ${name} has problems:`, ...shown, ...more].join(" ");
}

const remediations = {
  HOST_NOT_AT_TARGET: "Upgrade the cluster again for this host, or remove the host from the cluster.",
  HOST_DISCONNECTED: "Check the host's console and reconnect it to the component manager.",
  HOST_LEFT_IN_MAINTENANCE_MODE:
    "Take the host out of maintenance mode in the component manager, unless it should stay there.",
  VMS_NOT_RUNNING: "Start the virtual machines in the component manager, unless they should be off.",
} as const;
type LeftoverCode = keyof typeof remediations;
