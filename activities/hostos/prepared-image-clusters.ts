import { isLeft } from "fp-ts/Either";
import * as t from "io-ts";
import type { HostRemediationOptions } from "../../src/domain/host-remediation";
import { readClusterSettings, restoreClusterSettings, switchOffClusterSettings } from "../baseline/cluster-settings";
import type { ClusterWork } from "../cluster-work";
import type { ClusterTarget, RemediationPolicy } from "../contract";
import type { Vim25Client } from "../drivers/vim25/vim25-client";

/** What is recorded of such a cluster: its remediation policy, and its HA admission control and power management. */
const Recorded = t.type({ policy: t.UnknownRecord, settings: t.UnknownRecord });

interface PreparedImageClusterDependencies {
  /** How image-managed clusters are upgraded otherwise. */
  readonly image: ClusterWork;
  managementOf(componentManagerId: string): Vim25Client;
}

/**
 * Image-managed clusters of which several hosts are remediated together although options are asked for that the product
 * carries out only on hosts that it empties itself: the cluster's settings are then changed here, and the remediation
 * policy asks for nothing that has been done already.
 */
export function preparedImageClusters({ image, managementOf }: PreparedImageClusterDependencies): ClusterWork {
  const client = ({ cluster }: ClusterTarget) => managementOf(cluster.componentManagerId);
  return {
    ...image,
    readPolicy: async (patience, target) => {
      const { previous: policy, ...held } = await image.readPolicy(patience, target);
      const settings = await readClusterSettings(client(target), patience, target);
      return { ...held, previous: { policy, settings } };
    },
    putPolicy: async (patience, input) => {
      const { ownOptions = {} } = input;
      const { policy, settings } = recorded(input.previous);
      const options = { ...input.options, ...asDone(ownOptions) };
      await image.putPolicy(patience, { ...input, options, previous: policy });
      await switchOffClusterSettings(client(input), patience, { ...input, options: ownOptions, previous: settings });
    },
    restorePolicy: async (patience, input) => {
      const { ownOptions = {} } = input;
      const { policy, settings } = recorded(input.previous);
      // Neither is to wait for the other: what cannot be put back now is tried again for hours.
      const ends = await Promise.allSettled([
        restoreClusterSettings(client(input), patience, { ...input, options: ownOptions, previous: settings }),
        image.restorePolicy(patience, { ...input, previous: policy }),
      ]);
      for (const end of ends) if (end.status === "rejected") throw end.reason;
    },
  };
}

function recorded(previous: RemediationPolicy): t.TypeOf<typeof Recorded> {
  const decoded = Recorded.decode(previous);
  if (isLeft(decoded)) throw new Error("What was recorded of the cluster is no policy with settings");
  return decoded.right;
}

/** What the remediation policy says of options that are carried out already, whatever the cluster is configured for. */
function asDone({ preRemediationPowerAction, disableHac, disableDpm }: HostRemediationOptions): HostRemediationOptions {
  return {
    ...(preRemediationPowerAction && { preRemediationPowerAction: "DO_NOT_CHANGE_VMS_POWER_STATE" }),
    ...(disableHac === true && { disableHac: false }),
    ...(disableDpm === true && { disableDpm: false }),
  };
}
