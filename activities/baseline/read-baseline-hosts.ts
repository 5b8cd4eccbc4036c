import type { ClusterHost } from "../../src/domain/host-remediation";
import type { ClusterTarget, HostBefore } from "../contract";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import { inUpgradeOrder } from "../hostos/read-cluster-hosts";
import type { RetryPolicy } from "../retry-policy";
import { isAtVersion, versionText } from "../../src/domain/product-version";

/** The hosts of a baseline-managed cluster, in the order of their upgrade. */
export async function readBaselineHosts(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  { cluster: { cluster }, targetVersion }: ClusterTarget,
): Promise<ClusterHost[]> {
  const hosts = await retryPolicy.retry(() => client.listHosts(cluster));
  return inUpgradeOrder(
    hosts.map(({ host, name, product }) => ({
      host,
      fqdn: name,
      version: versionText(product),
      atTarget: isAtVersion(product, targetVersion),
    })),
  );
}

/** A host as it is before its upgrade: whatever is changed later can be put back from this. */
export async function readHostBefore(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  { cluster: { cluster }, host: { host }, targetVersion, options }: ClusterTarget & { host: Pick<ClusterHost, "host"> },
): Promise<HostBefore> {
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
}
