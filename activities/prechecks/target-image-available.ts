import { isNotFound } from "../drivers/driver-error";
import { completeDraft, createOwnDraft, deleteDraft } from "../own-draft";
import { createPatience } from "../patience";
import { isDesired } from "../target-image";
import type { Precheck } from "./precheck";

/** How long the draft of a check that was stopped is still tried to be deleted; the next run deletes it otherwise. */
const cleanUp = 10_000;
const maximumRounds = 3;

/** The component manager has the target image and finds it valid for the cluster. */
export const targetImageAvailable: Precheck = {
  type: "TARGET_IMAGE_AVAILABLE",
  name: "Target image available",
  description: "The component manager has the target image and finds it valid for this cluster.",
  needs: ["CLUSTER_IMAGE_MANAGED"],
  run: async ({ target, client, patience }) => {
    const { cluster } = target.cluster;
    if (isDesired(await patience.persist(() => client.readDesiredImage(cluster)), target)) return [];
    for (let round = 0; ; round++) {
      const draft = await createOwnDraft(client, patience, cluster, target);
      try {
        await completeDraft(client, patience, { cluster, draft }, target);
        return [];
      } catch (error) {
        // The prechecks of another upgrade of this cluster may have replaced our draft by theirs.
        if (!isNotFound(error) || round === maximumRounds) throw error;
      } finally {
        const bounds = { ...patience.bounds, outage: cleanUp, operationBusy: cleanUp };
        const persistent = createPatience(bounds, { interruption: () => undefined });
        await deleteDraft(client, persistent, cluster, draft).catch(() => undefined);
      }
      await patience.pause(round);
    }
  },
};
