import { isInScope } from "../../src/domain/plan/host-scope";
import { type AnyPrecheckInput, type Finding, findingsOf, type Found, type Precheck } from "./run-checks";

// Checks that both kinds of cluster have, which differ only in where they read what they look at.

/** A host of the cluster. */
interface NamedHost {
  /** The component manager's id of it. */
  readonly host: string;
  readonly name: string;
}

interface HostConnection extends NamedHost {
  readonly isUsable: boolean;
  /** Goes on after "Host ... is", without a full stop. */
  readonly state: string;
}

interface HostLister<Host> {
  listHosts(cluster: string): Promise<readonly Host[]>;
}

/** The hosts of the cluster, as the client of its kind lists them. */
export function listHosts<Host>({
  target,
  client,
  retryPolicy,
}: AnyPrecheckInput & { readonly client: HostLister<Host> }): Promise<readonly Host[]> {
  return retryPolicy.retry(() => client.listHosts(target.cluster.cluster));
}

/** Those of the hosts that the upgrade is about. */
export async function listHostsInScope<Host extends { readonly host: string }>(
  input: AnyPrecheckInput & { readonly client: HostLister<Host> },
): Promise<readonly Host[]> {
  return (await listHosts(input)).filter(({ host }) => isInScope(input.target.scope, host));
}

/** Every host of the cluster that is upgraded can be worked on. */
export function hostsConnected<I extends AnyPrecheckInput>(
  readHosts: (input: I) => Promise<readonly HostConnection[]>,
): Precheck<I> {
  return {
    type: "HOSTS_CONNECTED",
    name: "Hosts connected",
    description: "Every host of the cluster is connected to the component manager and powered on.",
    needs: ["COMPONENT_MANAGER_REACHABLE"],
    run: async (input) => {
      const hosts = await readHosts(input);
      if (hosts.length === 0) {
        return findingsOf(input, [
          {
            code: "CLUSTER_EMPTY",
            message: `Cluster ${input.target.cluster.name} has no hosts.`,
            remediation: "Remove the cluster from the upgrade, or add hosts to it.",
          },
        ]);
      }
      return findingsOf(
        input,
        hosts
          .filter(({ isUsable }) => !isUsable)
          .map(({ host, name, state }) => ({
            code: "HOST_NOT_CONNECTED",
            message: `Host ${name} is ${state}.`,
            remediation: `Bring ${name} back into the cluster or remove it, then run the prechecks again.`,
            host: { id: host, name },
          })),
      );
    },
  };
}

/** Nobody has a host in maintenance mode: it is never taken out unasked, and the cluster is short of a host. */
export function noHostInMaintenanceMode<I extends AnyPrecheckInput>(
  readInside: (input: I) => Promise<readonly NamedHost[]>,
): Precheck<I> {
  return {
    type: "NO_HOST_IN_MAINTENANCE_MODE",
    name: "No host in maintenance mode",
    description: "No host of the cluster is in maintenance mode.",
    needs: ["COMPONENT_MANAGER_REACHABLE"],
    run: async (input) =>
      findingsOf(
        input,
        (await readInside(input)).map(({ host, name }) => ({
          code: "HOST_IN_MAINTENANCE_MODE",
          message: `Host ${name} is in maintenance mode.`,
          remediation: `Take ${name} out of maintenance mode or remove it from the cluster, then run the prechecks again.`,
          host: { id: host, name },
        })),
      ),
  };
}

/** Nobody else works on the cluster. `readBusy` gives the tasks that do. */
export function noOperationInProgress<I extends AnyPrecheckInput>(
  description: string,
  readBusy: (input: I) => Promise<readonly Pick<Finding, "message" | "context" | "host" | "subject">[]>,
): Precheck<I> {
  return {
    type: "NO_OPERATION_IN_PROGRESS",
    name: "No operation in progress",
    description,
    needs: ["COMPONENT_MANAGER_REACHABLE"],
    run: async (input) =>
      findingsOf(
        input,
        (await readBusy(input)).map((task) => ({
          code: "CLUSTER_BUSY",
          remediation: "Wait for that task to end or cancel it in the component manager, then run the prechecks again.",
          ...task,
        })),
      ),
  };
}

/** The cluster is not managed in the way for which the upgrade was planned. */
export function kindChanged(input: AnyPrecheckInput, now: "an image" | "baselines"): Found[] {
  return findingsOf(input, [
    {
      code: "CLUSTER_KIND_CHANGED",
      message: `Cluster ${input.target.cluster.name} is managed by ${now}, but this upgrade was not planned for that.`,
      remediation: "Cancel this upgrade and start a new one for the cluster as it is managed now.",
    },
  ]);
}

/** A host cannot be taken back to the target. */
export function newerThanTarget({ host, name }: NamedHost, version: string, targetVersion: string): Finding {
  return {
    code: "HOST_NEWER_THAN_TARGET",
    message: `Host ${name} has version ${version}, which is newer than ${targetVersion}.`,
    remediation: "Choose a bundle that is at least as new as the newest host of the cluster.",
    context: { version },
    host: { id: host, name },
  };
}
