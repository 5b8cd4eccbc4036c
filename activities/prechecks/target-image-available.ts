import { isNotFound } from "../drivers/driver-error";
import { discardDraft, withOwnDraft } from "../own-draft";
import { isDesired } from "../target-image";
import type { Precheck } from "./precheck";

const maximumRounds = 3;

/** The component manager has the target image and finds it valid for the cluster. */
export const targetImageAvailable: Precheck = {
  type: "TARGET_IMAGE_AVAILABLE",
  name: "Target image available",
  description: "The component manager has the target image and finds it valid for this cluster.",
  needs: ["CLUSTER_IMAGE_MANAGED"],
  run: async ({ target, client, retryPolicy }) => {
    const { cluster } = target.cluster;
    if (isDesired(await retryPolicy.retry(() => client.readDesiredImage(cluster)), target)) return [];
    for (let round = 0; ; round++) {
      try {
        const discard = (draft: string) => discardDraft(client, retryPolicy, cluster, draft);
        await withOwnDraft(client, retryPolicy, cluster, target, discard);
        return [];
      } catch (error) {
        // Another worker, with the prechecks of another upgrade of this cluster, may have replaced our draft by theirs.
        if (!isNotFound(error) || round === maximumRounds) throw error;
      }
      await retryPolicy.pause(round);
    }
  },
};
