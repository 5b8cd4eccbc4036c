import type { ErrorBody } from "../../src/domain/errors";
import { compareNumberByNumber, compareVersions } from "../../src/domain/version";
import { assessHost, readFullCompliance } from "../clusters/image/assess-hosts";
import type { ClusterTarget } from "../contract";
import type { HostCompliance } from "../drivers/vlcm/vlcm-models";
import { type AnyPrecheckInput, findingsOf, type Precheck } from "./run-checks";

/** Every host of the cluster can be worked on. */
export const hostsConnected: Precheck = {
  type: "HOSTS_CONNECTED",
  name: "Hosts connected",
  description: "Every host of the cluster is connected to the component manager and powered on.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const hosts = await retryPolicy.retry(() => client.listHosts(target.cluster.cluster));
    if (hosts.length === 0) {
      return findingsOf(input, [
        {
          code: "CLUSTER_EMPTY",
          message: `Cluster ${target.cluster.name} has no hosts.`,
          remediation: "Remove the cluster from the upgrade, or add hosts to it.",
        },
      ]);
    }
    return findingsOf(
      input,
      hosts
        .filter(({ connection_state, power_state }) => connection_state !== "CONNECTED" || power_state !== "POWERED_ON")
        .map(({ host, name, connection_state, power_state }) => ({
          code: "HOST_NOT_CONNECTED",
          message: `Host ${name} is ${connection_state} and ${power_state ?? "its power state is not known"}.`,
          remediation: `Bring ${name} back into the cluster or remove it, then run the prechecks again.`,
          context: { host: name, hostId: host },
        })),
    );
  },
};

/** No host is newer than the target: the component manager cannot take a host back. */
export const noDowngrade: Precheck = {
  type: "NO_DOWNGRADE",
  name: "No downgrade",
  description: "No host of the cluster has a newer version than the target.",
  needs: ["CLUSTER_IMAGE_MANAGED"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { cluster } = target.cluster;
    const hosts = await retryPolicy.retry(() => client.listHosts(cluster));
    const ids = hosts.map(({ host }) => host);
    const compliance = await readFullCompliance(client, retryPolicy, cluster, ids);
    return findingsOf(
      input,
      hosts.flatMap(({ host, name }) => {
        const { version } = assessHost(compliance, host, target);
        const newer = newerComponent(compliance?.hosts[host], target);
        if (newer) return [{ ...newerPart(name, newer), context: { host: name, ...newer } }];
        if (version === "" || compareVersions(version, target.targetVersion) <= 0) return [];
        return [
          {
            code: "HOST_NEWER_THAN_TARGET",
            message: `Host ${name} has version ${version}, which is newer than ${target.targetVersion}.`,
            remediation: "Choose a bundle that is at least as new as the newest host of the cluster.",
            context: { host: name, version },
          },
        ];
      }),
    );
  },
};

interface NewerComponent {
  readonly component: string;
  readonly version: string;
  readonly target: string;
}

/** A component that the host has in a newer version than the target image names. */
function newerComponent(found: HostCompliance | undefined, { image }: ClusterTarget): NewerComponent | undefined {
  const wanted = Object.entries(image?.components ?? {});
  return wanted.flatMap(([component, target]) => {
    const version = found?.components?.[component]?.current?.version;
    return version !== undefined && compareNumberByNumber(version, target) > 0 ? [{ component, version, target }] : [];
  })[0];
}

function newerPart(host: string, { component, version, target }: NewerComponent) {
  return {
    code: "HOST_NEWER_THAN_TARGET",
    message: `Host ${host} has ${component} ${version}, which is newer than ${target}.`,
    remediation: `Choose a personality with ${component} ${version} or newer, or without it.`,
  };
}

/** Nobody has a host in maintenance mode: it is never taken out unasked, and the cluster is short of a host. */
export const noHostInMaintenance: Precheck = {
  type: "NO_HOST_IN_MAINTENANCE_MODE",
  name: "No host in maintenance mode",
  description: "No host of the cluster is in maintenance mode.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, maintenance, retryPolicy } = input;
    const { cluster } = target.cluster;
    const hosts = await retryPolicy.retry(() => client.listHosts(cluster));
    const inside = await maintenance.inMaintenance(cluster, retryPolicy);
    return inMaintenanceFindings(
      input,
      hosts.filter(({ host }) => inside.has(host)),
    );
  },
};

/** Finds hosts that somebody has in maintenance mode: they are not ours to take out, and the cluster is short of them. */
export function inMaintenanceFindings(
  input: AnyPrecheckInput,
  hosts: readonly { readonly host: string; readonly name: string }[],
): ErrorBody[] {
  return findingsOf(
    input,
    hosts.map(({ host, name }) => ({
      code: "HOST_IN_MAINTENANCE_MODE",
      message: `Host ${name} is in maintenance mode.`,
      remediation: `Take ${name} out of maintenance mode or remove it from the cluster, then run the prechecks again.`,
      context: { host: name, hostId: host },
    })),
  );
}
