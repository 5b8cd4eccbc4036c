import { expect } from "chai";
import { defaultActivityLimits } from "../../../activities/activity-dependencies";
import type { NsxClient } from "../../../activities/drivers/nsx/nsx-client";
import { groupsKnown } from "../../../activities/netvirt/prechecks/groups-known";
import { createRetryPolicy } from "../../../activities/retry-policy";

describe("the precheck of the clusters that a request names", () => {
  it("does not take edgeParallelUpgrade where the coordinator does not tell what it does: nothing could be changed", async () => {
    const client: Partial<NsxClient> = {
      id: "nsx-01",
      listGroups: () => Promise.resolve([{ id: "edge-1", display_name: "edge-cl01" }]),
    };
    const check = (parallel?: boolean) =>
      groupsKnown.run({
        target: {
          netvirt: { resourceId: "n-1", name: "nsx-01", componentManagerId: "nsx-01" },
          targetVersion: "9.0.1",
          options: { edgeOnly: true, edgeClusters: [{ id: "edge-1", ...(parallel !== undefined && { parallel }) }] },
        },
        client: client as NsxClient,
        patience: createRetryPolicy(defaultActivityLimits, { interruption: () => undefined }),
        limits: defaultActivityLimits,
        deadline: Infinity,
      });
    const [error, ...more] = await check(true);
    expect([error?.errorCode, more]).to.deep.equal(["NETVIRT_EDGE_PARALLEL_FIXED", []]);
    expect(error?.message).to.contain("edge-cl01").and.to.contain("does not tell");
    expect(error?.remediationMessage).to.equal("Leave out edgeParallelUpgrade of this edge cluster.");
    expect(await check()).to.deep.equal([]);
  });
});
