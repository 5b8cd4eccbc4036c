import type { ClusterTarget, HostToRestore } from "../contract";
import { DriverError } from "../drivers/driver-error";
import type { RetryPolicy } from "../retry-policy";
import { changeVmPower } from "./baseline/vm-power";
import { isApply } from "./image/assess-hosts";
import type { ImageInterfaces } from "./image/image-context";

/** `client`: of an image-managed cluster alone. */
interface Interfaces extends Pick<ImageInterfaces, "maintenance" | "management"> {
  readonly client: ImageInterfaces["client"] | undefined;
}

/**
 * Puts back at a cluster's end what attempts at its hosts could not: maintenance mode first, because virtual machines start
 * only on hosts outside it. What one host refuses keeps nothing of the others.
 */
export async function restoreHosts(
  { client, maintenance, management }: Interfaces,
  retryPolicy: RetryPolicy,
  { cluster: { cluster }, hosts }: ClusterTarget & { readonly hosts: readonly HostToRestore[] },
): Promise<void> {
  if (client) {
    const tasks = await retryPolicy.retry(() => client.listUnfinishedTasks(cluster));
    // Its hosts have to stay in maintenance mode, and what ran on them off.
    if ([...tasks.values()].some(isApply)) return;
  }
  const inside = hosts.filter(({ inMaintenanceMode }) => inMaintenanceMode);
  await Promise.all(inside.map(({ host }) => ignoringRefusal(maintenance.exit(host, retryPolicy))));
  const vms = new Set(hosts.flatMap((host) => host.vms));
  if (vms.size === 0) return;
  await ignoringRefusal(
    changeVmPower({
      client: management,
      retryPolicy,
      cluster,
      action: "PowerOnVM",
      changed: vms,
      isMeant: ({ vm, power }) => vms.has(vm) && power !== "poweredOn",
      note: () => undefined,
    }),
  );
}

/** A refusal shows in the state of the host, which is read after this; an interruption of the retryPolicy is thrown. */
async function ignoringRefusal(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof DriverError)) throw error;
  }
}
