import { Doubts } from "../../baseline/doubts";
import { followTask } from "../../baseline/follow-task";
import { patchSource } from "../../baseline/patch-source";
import { isAtVersion } from "../../../src/domain/product-version";
import { reasonsOfFault } from "../../drivers/vim25/classify-fault";
import { endedByOutage } from "../../drivers/vim25/vim25-models";
import { findingsOf } from "../precheck";
import type { BaselinePrecheck } from "./baseline-precheck";

/** The inventory says where the target comes from, and a host that needs it finds it there and can use it. */
export const targetPatchAvailable: BaselinePrecheck = {
  type: "TARGET_PATCH_AVAILABLE",
  name: "Target patch available",
  description: "The patch of the target is known, and the first host that needs it can read and use it.",
  needs: ["CLUSTER_BASELINE_MANAGED"],
  run: async (input) => {
    const { target, client, retryPolicy, patchFor } = input;
    const patch = patchSource(patchFor, target);
    const hosts = await retryPolicy.retry(() => client.listHosts(target.cluster.cluster));
    // All hosts read from the same place; each judging it would take long and tell no more.
    const host = hosts.find(
      ({ connection, product }) => connection === "connected" && !isAtVersion(product, target.targetVersion),
    );
    if (!host) return [];
    const doubts = new Doubts<"outage">(retryPolicy.clock);
    const check = async () => {
      const task = await retryPolicy.retry(() => client.checkPatch(host.host, patch));
      return followTask({ client, retryPolicy, task, stall: retryPolicy.bounds.operationBusy });
    };
    let followed = await check();
    for (let round = 0; followed.end === "ENDED" && endedByOutage(followed.task); round++) {
      if (doubts.hasLasted("outage", retryPolicy.bounds.outage)) break;
      await retryPolicy.pause(round);
      followed = await check();
    }
    // Forgotten: the installation will judge it.
    if (followed.end === "FORGOTTEN") return [];
    const reasons =
      followed.end === "STALLED"
        ? [`Task ${followed.task.key} makes no progress.`]
        : followed.task.error
          ? reasonsOfFault(followed.task.error)
          : [];
    if (followed.end === "ENDED" && !followed.task.error) return [];
    return findingsOf(input, [
      {
        code: "PATCH_NOT_USABLE",
        message: `Host ${host.name} cannot use the patch of ${target.targetVersion} from ${patch.metadataUrls.join(", ")}${reasons[0] ? `: ${reasons[0]}` : "."}`,
        remediation:
          "Correct the depot's URLs in the inventory or what the host objects to, then run the prechecks again.",
        context: { host: host.name, hostId: host.host },
      },
    ]);
  },
};
