import { hostStages } from "../../src/domain/host-remediation";
import type { ActivityLimits } from "../activity-dependencies";
import type { ClusterWork } from "../cluster-work";
import type { ClusterTarget } from "../contract";
import { DriverError } from "../drivers/driver-error";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import { runImagePrechecks } from "../prechecks/run-cluster-prechecks";
import { HostRemediationRun } from "./host-remediation-run";
import { putRemediationPolicy } from "./put-remediation-policy";
import { readClusterHosts } from "./read-cluster-hosts";
import { remediateHost } from "./remediate-host";
import { setDesiredImage } from "./set-desired-image";

interface ImageClusterDependencies {
  clientOf(componentManagerId: string): VlcmClient;
  readonly limits: ActivityLimits;
}

/** Clusters that are managed by an image: the component manager's own remediation does the work. */
export function imageClusters({ clientOf, limits }: ImageClusterDependencies): ClusterWork {
  const client = ({ cluster }: ClusterTarget) => clientOf(cluster.componentManagerId);
  return {
    runPrechecks: (target) => runImagePrechecks({ clientOf, limits }, target),
    readHosts: (patience, target) => readClusterHosts(client(target), patience, target),
    readPolicy: async (patience, target) => {
      const { cluster } = target.cluster;
      const previous = await patience.persist(() => client(target).readPolicy(cluster));
      return { previous, effective: await patience.persist(() => client(target).readEffectivePolicy(cluster)) };
    },
    putPolicy: (patience, input) => putRemediationPolicy(client(input), patience, input),
    restorePolicy: (patience, input) =>
      patience.persist(() => client(input).putPolicy(input.cluster.cluster, input.previous)),
    setDesiredImage: (patience, target) => setDesiredImage(client(target), patience, target),
    readHostBefore: (_patience, { cluster }) =>
      Promise.reject(
        new DriverError({
          kind: "permanent",
          code: "CLUSTER_KIND_CHANGED",
          message: `Hosts of cluster ${cluster.name} are remediated by its image; nothing of them is recorded before.`,
          remediation: "Cancel this upgrade and start a new one for the cluster as it is managed now.",
        }),
      ),
    remediateHost: (input) =>
      remediateHost(
        {
          stages: hostStages,
          limits,
          run: (options) => new HostRemediationRun({ ...options, client: clientOf(input.cluster.componentManagerId) }),
        },
        input,
      ),
  };
}
