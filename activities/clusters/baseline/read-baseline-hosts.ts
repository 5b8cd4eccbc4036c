import { remediationFor } from "../../../src/domain/errors";
import type { ClusterHost } from "../../../src/domain/task/host-remediation";
import { isAtVersion, versionText } from "../../../src/domain/version";
import type { ClusterTarget, HostBefore, HostName, HostsToRead } from "../../contract";
import { DriverError } from "../../drivers/driver-error";
import type { Vim25Client } from "../../drivers/vim25/vim25-client";
import type { RetryPolicy } from "../../retry-policy";
import { findStoppedVms, inUpgradeOrder, standingOf } from "../read-hosts";

/** The hosts of a baseline-managed cluster, in the order of their upgrade. */
export async function readBaselineHosts(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  target: HostsToRead,
): Promise<ClusterHost[]> {
  const { cluster, targetVersion } = target;
  const hosts = await retryPolicy.retry(() => client.listHosts(cluster.cluster));
  const stopped = await findStoppedVms(client, retryPolicy, target);
  return inUpgradeOrder(
    hosts.map(({ host, name, product, connection, inMaintenanceMode }) => ({
      host,
      fqdn: name,
      version: versionText(product),
      atTarget: isAtVersion(product, targetVersion),
      ...standingOf(connection, inMaintenanceMode),
      ...stopped(host),
    })),
  );
}

/**
 * A host as it is before its upgrade: whatever is changed later can be put back from this. Throws HOST_LEFT_CLUSTER where
 * its cluster does not list it, at a second look either.
 */
export async function readHostBefore(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  { cluster: { cluster }, host: { host, fqdn }, targetVersion, options }: ClusterTarget & { host: HostName },
): Promise<HostBefore> {
  if (!(await isListed()) && !(await retryPolicy.pause(Infinity).then(isListed))) throw hasLeft(fqdn);
  const at = await retryPolicy.retry(() => client.readTime());
  const { inMaintenanceMode, rebootRequired, product } = await retryPolicy.retry(() => client.readHost(host));
  const action = options?.preRemediationPowerAction ?? "DO_NOT_CHANGE_VMS_POWER_STATE";
  const vms = action === "DO_NOT_CHANGE_VMS_POWER_STATE" ? [] : await retryPolicy.retry(() => client.listVms(cluster));
  return {
    at,
    inMaintenanceMode,
    rebootRequired,
    atTarget: isAtVersion(product, targetVersion),
    runningVms: vms.filter((vm) => vm.host === host && vm.power === "poweredOn").map(({ vm }) => vm),
  };

  async function isListed(): Promise<boolean> {
    const modes = await retryPolicy.retry(() => client.listHostModes(cluster));
    return modes.some((mode) => mode.host === host);
  }
}

function hasLeft(fqdn: string): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "HOST_LEFT_CLUSTER",
    message: `Host ${fqdn} has left its cluster.`,
    remediation: remediationFor("HOST_LEFT_CLUSTER"),
  });
}
