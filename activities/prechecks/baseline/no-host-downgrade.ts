import { compareToTarget, versionText } from "../../../src/domain/product-version";
import { findingsOf } from "../precheck";
import type { BaselinePrecheck } from "./baseline-precheck";

/** No host is newer than the target: a patch cannot take a host back. */
export const noHostDowngrade: BaselinePrecheck = {
  type: "NO_DOWNGRADE",
  name: "No downgrade",
  description: "No host of the cluster has a newer version than the target.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const hosts = await retryPolicy.retry(() => client.listHosts(target.cluster.cluster));
    return findingsOf(
      input,
      hosts.flatMap(({ name, product }) => {
        if (!product || compareToTarget(product, target.targetVersion) <= 0) return [];
        const version = versionText(product);
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
