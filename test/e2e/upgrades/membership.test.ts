import { expect } from "chai";
import type { Task } from "../../../src/domain/spec/task";
import { exampleNow } from "../../support/service/examples";
import { hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";

interface Simulated {
  readonly clusters: readonly {
    readonly id: string;
    readonly hosts: readonly { readonly id: string; readonly name: string; readonly maintenance: string }[];
  }[];
}

function ended({ status }: Task): boolean {
  return status !== "Pending" && status !== "In Progress";
}

describe("a cluster whose hosts change while it is upgraded", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "2", POLL_MIN_MILLISECONDS: "50" });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());

  async function hosts() {
    const { clusters } = await service.simulated<Simulated>();
    return clusters.find(({ id }) => id === "domain-c34")?.hosts ?? [];
  }
  async function change(method: string, path: string, body?: object): Promise<void> {
    const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const answer = await fetch(`${service.simulatorUrl}/simulator/${path}`, { method, ...(body && json) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  }
  async function startedUpgrade(): Promise<Task> {
    const task = await service.startUpgrade(exampleNow("cluster-draft"));
    await until("the first host is in maintenance mode", async () => (await hosts())[0]?.maintenance === "IN");
    return task;
  }

  it("upgrades a host that joins in the middle", async () => {
    const { id } = await startedUpgrade();
    await change("POST", "clusters/domain-c34/hosts", { name: "fra1-esx-99.mgmt.example.com" });
    const done = await service.taskWhen(id, "ended", ended, 120);
    expect(done.status, JSON.stringify(done.errors)).to.equal("Successful");
    expect(hostsOf(done).map(({ status }) => status)).to.deep.equal(Array(5).fill("SUCCESSFUL"));
    expect(Object.values(await service.remediations())).to.deep.equal(Array(5).fill(1));
  });

  it("leaves out a host that leaves, and upgrades the others", async () => {
    const third = (await hosts())[2]?.id ?? "";
    const { id } = await startedUpgrade();
    await change("DELETE", `hosts/${third}`);
    const done = await service.taskWhen(id, "ended", ended, 120);
    expect(done.status, JSON.stringify(done.errors)).to.equal("Successful");
    expect(hostsOf(done).map(({ status, reasonCode }) => reasonCode ?? status)).to.deep.equal([
      "SUCCESSFUL",
      "SUCCESSFUL",
      "HOST_LEFT_CLUSTER",
      "SUCCESSFUL",
    ]);
  });

  it("takes a host out of maintenance mode that a failed attempt has left there", async () => {
    const { id } = await startedUpgrade();
    await service.fault({ kind: "MANAGER_RESTARTS", seconds: 0 });
    const done = await service.taskWhen(id, "ended", ended, 120);
    expect(done.status, JSON.stringify(done.errors)).to.equal("Successful");
    expect(hostsOf(done).map(({ status }) => status)).to.deep.equal(Array(4).fill("SUCCESSFUL"));
    expect((await hosts()).map(({ maintenance }) => maintenance)).to.deep.equal(Array(4).fill("OUT"));
  });

  it("says at once that somebody has a host in maintenance mode, and leaves it there", async () => {
    const second = (await hosts())[1];
    await change("PATCH", `hosts/${second?.id}`, { maintenance: "IN" });
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    const failed = await service.taskWhen(id, "ended", ended);
    expect(failed.status).to.equal("Failed");
    expect(JSON.stringify(failed.subTasks)).to.contain("HOST_IN_MAINTENANCE_MODE").and.to.contain(second?.name);
    expect(await service.remediations()).to.deep.equal({});
    expect((await hosts())[1]?.maintenance).to.equal("IN");
  });
});
