import { expect } from "chai";
import type { NsxClient } from "../../../activities/drivers/nsx/nsx-client";
import { groupsKnown } from "../../../activities/netvirt/netvirt-prechecks";
import { isIncluded } from "../../../activities/netvirt/netvirt-settings";
import { createRetryPolicy } from "../../../activities/retry-policy";
import { defaultActivityLimits } from "../../support/default-limits";

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
          places: [{ domain: "fra1" }],
          options: { edgeOnly: true, edgeClusters: [{ id: "edge-1", ...(parallel !== undefined && { parallel }) }] },
        },
        client: client as NsxClient,
        retryPolicy: createRetryPolicy(defaultActivityLimits, { stage: "IN_WORK", interruption: () => undefined }),
        limits: defaultActivityLimits,
        deadline: Infinity,
      });
    const [error, ...more] = (await check(true)).map((found) => found.error);
    expect([error?.errorCode, more]).to.deep.equal(["NETVIRT_EDGE_PARALLEL_FIXED", []]);
    expect(error?.message).to.contain("edge-cl01").and.to.contain("does not report");
    expect(error?.remediationMessage).to.equal("Remove edgeParallelUpgrade of this edge cluster.");
    expect(await check()).to.deep.equal([]);
  });

  it("finds groups by their id in any case, by their name, and by the cluster that they are, each once", async () => {
    const hosts = [
      { id: "0b7f7c5e-3f0e-4a0c-8a64-0d0c6f9d8a12", display_name: "fra1-cl47" },
      { id: "g-2", display_name: "twin" },
      { id: "g-3", display_name: "twin" },
    ];
    const client: Partial<NsxClient> = { id: "nsx-01", listGroups: () => Promise.resolve(hosts) };
    const codes = async (...hostClusters: { id: string; name?: string }[]) => {
      const errors = await groupsKnown.run({
        target: {
          netvirt: { resourceId: "n-1", name: "nsx-01", componentManagerId: "nsx-01" },
          targetVersion: "9.0.1",
          places: [{ domain: "fra1" }],
          options: { edgeOnly: false, hostClusters },
        },
        client: client as NsxClient,
        retryPolicy: createRetryPolicy(defaultActivityLimits, { stage: "IN_WORK", interruption: () => undefined }),
        limits: defaultActivityLimits,
        deadline: Infinity,
      });
      return errors.map(({ error }) => error.errorCode);
    };
    for (const one of [
      { id: "0B7F7C5E-3F0E-4A0C-8A64-0D0C6F9D8A12" },
      { id: "fra1-cl47" },
      { id: "domain-c47", name: "fra1-cl47" },
    ]) {
      expect(await codes(one), one.id).to.deep.equal([]);
      expect(isIncluded("HOST", hosts[0]!, { edgeOnly: false, hostClusters: [one] }), one.id).to.equal(true);
      expect(isIncluded("HOST", hosts[1]!, { edgeOnly: false, hostClusters: [one] }), one.id).to.equal(false);
    }
    expect(await codes({ id: "g-2" }, { id: "g-3" })).to.deep.equal([]);
    expect(await codes({ id: "twin" })).to.deep.equal(["NETVIRT_GROUP_UNKNOWN"]);
    expect(await codes({ id: "none" })).to.deep.equal(["NETVIRT_GROUP_UNKNOWN"]);
    expect(await codes({ id: hosts[0]!.id }, { id: "fra1-cl47" })).to.deep.equal(["RESOURCE_DUPLICATE"]);
  });
});
