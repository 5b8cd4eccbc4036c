import { expect } from "chai";
import { knownIds, noIds } from "../../../src/console/model/known-ids";

describe("the ids that the console's form proposes", () => {
  it("are all that a request can name, by what people call them", () => {
    const domain = { id: "d", name: "fra1" };
    const netvirt = {
      ...{ id: "n1", name: "nsx-01", domain, componentManagerId: "nsx", clusters: [] },
      hostClusters: [{ id: "g1", name: "prod" }],
      edgeClusters: [{ id: "e1", name: "edge" }],
    };

    const { hostClusters: _hosts, edgeClusters: _edges, ...withoutGroups } = { ...netvirt, id: "n2", name: "nsx-02" };
    expect(
      knownIds({
        netvirt: [netvirt, withoutGroups],
        servers: [{ id: "m1", name: "vc-01", componentManagerId: "vc", clusters: [] }],
        personalities: [{ id: "p1", name: "gold", version: "9.0.2" }],
        isos: [{ id: "i1", name: "rescue", version: "9.0.2" }],
      }),
    ).to.deep.equal({
      NETVIRT: [
        { value: "n1", label: "nsx-01" },
        { value: "n2", label: "nsx-02" },
      ],
      HOST_CLUSTERS: [{ value: "g1", label: "prod, nsx-01" }],
      EDGE_CLUSTERS: [{ value: "e1", label: "edge, nsx-01" }],
      MANAGEMENT_SERVERS: [{ value: "m1", label: "vc-01" }],
      PERSONALITIES: [{ value: "p1", label: "gold, 9.0.2" }],
      ISOS: [{ value: "i1", label: "rescue, 9.0.2" }],
    });
  });

  it("are none as long as nothing has been read", () => {
    expect(knownIds({})).to.deep.equal(noIds);
  });
});
