import type { ErrorBody } from "../errors";
import type { ClusterUpgradePlan } from "../plan/upgrade-plan";
import type { SubTask } from "../spec/task";
import { isSameVersion } from "../version";
import type { ClusterHost } from "./host-remediation";

interface LastLook {
  readonly cluster: Pick<ClusterUpgradePlan, "name" | "targetVersion">;
  /** The SubTasks of the hosts that the upgrade knows. */
  readonly known: readonly SubTask[];
  /** Ids of hosts that were in maintenance mode before anything of the cluster was changed. */
  readonly heldBefore: readonly string[];
  /** The hosts of the cluster as they are now. */
  readonly hosts: readonly ClusterHost[];
}

/**
 * What is not as it should be at the end of a cluster whose upgrade went well, one error for each host and matter. Hosts
 * that have failed are left out: their own errors tell of them.
 */
export function leftoversOf({ cluster, known, heldBefore, hosts }: LastLook): ErrorBody[] {
  const parts = new Map(known.map((part) => [part.resources?.[0]?.resourceId, part]));
  return hosts.flatMap((host) => {
    const part = parts.get(host.host);
    if (part?.status === "FAILED") return [];
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
      ...(!atTarget && (part === undefined || isOther)
        ? [wrong("HOST_NOT_AT_TARGET", `Host ${fqdn} runs ${runs}, not ${cluster.targetVersion}.`)]
        : []),
      ...(connection !== undefined ? [wrong("HOST_DISCONNECTED", `Host ${fqdn} is ${connection}.`)] : []),
      ...(inMaintenanceMode && !heldBefore.includes(host.host)
        ? [wrong("HOST_LEFT_IN_MAINTENANCE_MODE", `Host ${fqdn} is in maintenance mode.`)]
        : []),
      ...(stoppedVms.length > 0 ? [wrong("VMS_NOT_RUNNING", notRunning(fqdn, stoppedVms))] : []),
    ];
  });
}

function notRunning(fqdn: string, vms: readonly string[]): string {
  const more = vms.length > 3 ? ` and ${vms.length - 3} more` : "";
  return `Virtual machines on host ${fqdn} do not run, which the upgrade had switched off: ${vms.slice(0, 3).join(", ")}${more}.`;
}

/** All of it as the one error of its cluster; `failures`: what the rollout policy has tolerated. */
export function clusterWarning(
  name: string,
  failures: ErrorBody | undefined,
  leftovers: readonly ErrorBody[],
): ErrorBody {
  const [first] = leftovers;
  if (!first) return failures ?? { message: `Cluster ${name} ended with a warning.` };
  const codes = new Set(leftovers.map(({ errorCode }) => errorCode));
  const shown = leftovers.slice(0, 3).map(({ message }) => message);
  const more = leftovers.length > shown.length ? [`And ${leftovers.length - shown.length} more.`] : [];
  const before = failures ? [failures.message] : [];
  return {
    errorCode:
      !failures && codes.size === 1 ? (first.errorCode ?? "CLUSTER_LEFT_WITH_WARNINGS") : "CLUSTER_LEFT_WITH_WARNINGS",
    errorType: "FAILED_DEPENDENCY",
    message: [...before, `Cluster ${name} is not as it should be:`, ...shown, ...more].join(" "),
    remediationMessage:
      codes.size === 1 && first.remediationMessage ? first.remediationMessage : "Do what the nested errors say.",
    nestedErrors: [...(failures ? [failures] : []), ...leftovers.slice(0, 10)],
  };
}

const remediations = {
  HOST_NOT_AT_TARGET: "Upgrade the cluster again for this host, or remove the host from the cluster.",
  HOST_DISCONNECTED: "Look at the host's console and connect it to the component manager again.",
  HOST_LEFT_IN_MAINTENANCE_MODE:
    "Take the host out of maintenance mode in the component manager, unless it belongs there.",
  VMS_NOT_RUNNING: "Start the virtual machines in the component manager, unless they are meant to be off.",
} as const;
type LeftoverCode = keyof typeof remediations;
