import { compareVersions } from "../../src/domain/version";
import { assessHost, readFullCompliance } from "../host-assessment";
import { findingsOf, type Precheck } from "./precheck";

/** No host is newer than the target: the component manager cannot take a host back. */
export const noDowngrade: Precheck = {
  type: "NO_DOWNGRADE",
  name: "No downgrade",
  description: "No host of the cluster has a newer version than the target.",
  needs: ["CLUSTER_IMAGE_MANAGED"],
  run: async (input) => {
    const { target, client, patience } = input;
    const { cluster } = target.cluster;
    const hosts = await patience.persist(() => client.listHosts(cluster));
    const ids = hosts.map(({ host }) => host);
    const compliance = await readFullCompliance(client, patience, cluster, ids);
    return findingsOf(
      input,
      hosts.flatMap(({ host, name }) => {
        const { version } = assessHost(compliance, host, target.targetVersion);
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
