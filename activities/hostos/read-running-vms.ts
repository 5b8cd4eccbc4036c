import type { ClusterHost } from "../../src/domain/host-remediation";
import type { ClusterTarget, RunningVms } from "../contract";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import type { RetryPolicy } from "../retry-policy";

/** The virtual machines that run on some hosts of a cluster now. */
export async function readRunningVms(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  { cluster: { cluster }, hosts }: ClusterTarget & { hosts: readonly Pick<ClusterHost, "host">[] },
): Promise<RunningVms> {
  const vms = await retryPolicy.retry(() => client.listVms(cluster));
  return Object.fromEntries(
    hosts.map(({ host }) => [
      host,
      vms.filter((vm) => vm.host === host && vm.power === "poweredOn").map(({ vm }) => vm),
    ]),
  );
}
