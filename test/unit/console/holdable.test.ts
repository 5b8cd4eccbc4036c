import { expect } from "chai";
import { taskExample } from "../../../src/api/openapi/examples";
import { canHold, holdableClusters, holdName, holdPath } from "../../../src/console/model/holdable";
import type { Hold } from "../../../src/domain/hold";
import type { SubTask, Task } from "../../../src/domain/spec/task";

describe("What can be held of an upgrade", () => {
  const at = "2026-12-01T09:00:00.000Z";
  const part = (type: string, id: string, more: Partial<SubTask> = {}): SubTask => ({
    ...{ name: `Upgrade ${id}`, type, description: "", status: "PENDING", creationTimestamp: at },
    resources: [{ resourceId: id, name: `${id}-name` }],
    ...more,
  });
  const host = (id: string, status: SubTask["status"]) => part("HOST_UPGRADE", id, { name: id, status });
  const cluster = part("CLUSTER_UPGRADE", "c/1", {
    subTasks: [host("esx-1", "SUCCESSFUL"), host("esx-2", "IN_PROGRESS"), host("esx-3", "PENDING")],
  });
  const product = part("HOSTOS_UPGRADE", "x", { subTasks: [cluster, part("MGMT_UPGRADE", "vc")] });
  const task: Task = { ...taskExample, subTasks: [part("PRECHECKS", "p"), product] };
  const held: Hold = { clusterId: "c/1", clusterName: "c", reason: "r", placedBy: "alice", since: at };

  it("is its clusters and those of their hosts that are not done, unless they are held", () => {
    const clusters = holdableClusters(task);
    expect(canHold(clusters, []).map(({ name }) => name)).to.deep.equal([
      ...["cluster c/1-name", "host esx-2", "host esx-3"],
    ]);
    const left = canHold(clusters, [held, { ...held, hostId: "esx-3", hostName: "esx-3.example.com" }]);
    expect(left.map(({ target }) => target)).to.deep.equal([{ clusterId: "c/1", hostId: "esx-2" }]);
  });

  it("has a name and a path", () => {
    expect([holdName(held), holdPath(held)]).to.deep.equal(["cluster c", "/v1/clusters/c%2F1/hold"]);
    const ofHost = { ...held, hostId: "host-3", hostName: "esx-3" };
    expect([holdName(ofHost), holdPath(ofHost)]).to.deep.equal(["host esx-3", "/v1/clusters/c%2F1/hosts/host-3/hold"]);
  });
});
