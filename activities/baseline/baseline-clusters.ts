import { baselineHostStages } from "../../src/domain/host-remediation";
import type { ActivityDependencies, ActivityLimits } from "../activity-dependencies";
import type { ClusterWork } from "../cluster-work";
import type { ClusterTarget } from "../contract";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import { remediateHost } from "../hostos/remediate-host";
import { runBaselinePrechecks } from "../prechecks/baseline/run-baseline-prechecks";
import { BaselineHostRun } from "./baseline-host-run";
import { readClusterSettings, restoreClusterSettings, switchOffClusterSettings } from "./cluster-settings";
import { patchSource } from "./patch-source";
import { readBaselineHosts, readHostBefore } from "./read-baseline-hosts";

interface BaselineClusterDependencies {
  clientOf(componentManagerId: string): Vim25Client;
  /** The lifecycle manager of the same component manager, which alone knows how a cluster is managed. */
  lifecycleOf(componentManagerId: string): VlcmClient;
  readonly patchFor: ActivityDependencies["patchFor"];
  readonly limits: ActivityLimits;
}

/** Clusters that are managed by baselines: the component manager has single steps only, and the sequence is ours. */
export function baselineClusters({
  clientOf,
  lifecycleOf,
  patchFor,
  limits,
}: BaselineClusterDependencies): ClusterWork {
  const client = ({ cluster }: ClusterTarget) => clientOf(cluster.componentManagerId);
  return {
    runPrechecks: (target) => runBaselinePrechecks({ clientOf, lifecycleOf, patchFor, limits }, target),
    readHosts: (patience, target) => readBaselineHosts(client(target), patience, target),
    readPolicy: async (patience, target) => ({ previous: await readClusterSettings(client(target), patience, target) }),
    putPolicy: (patience, input) => switchOffClusterSettings(client(input), patience, input),
    restorePolicy: (patience, input) => restoreClusterSettings(client(input), patience, input),
    setDesiredImage: async (_patience, target) => {
      patchSource(patchFor, target);
      return Promise.resolve({ changed: false });
    },
    readHostBefore: (patience, input) => readHostBefore(client(input), patience, input),
    remediateHost: (input) =>
      remediateHost(
        {
          stages: baselineHostStages,
          limits,
          run: (options) =>
            new BaselineHostRun({ ...options, client: client(input), patch: patchSource(patchFor, input) }),
        },
        input,
      ),
  };
}
