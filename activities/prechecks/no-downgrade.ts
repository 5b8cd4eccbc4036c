import { compareNumberByNumber, compareVersions } from "../../src/domain/version";
import type { ClusterTarget } from "../contract";
import type { HostCompliance } from "../drivers/vlcm/vlcm-models";
import { assessHost, readFullCompliance } from "../host-assessment";
import { findingsOf, type Precheck } from "./precheck";

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
