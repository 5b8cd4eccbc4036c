import { expect } from "chai";
import type { ErrorBody } from "../../../src/domain/errors";
import type { Task } from "../../../src/domain/spec/task";
import type { PageOfUpgrade, Upgrade } from "../../../src/domain/spec/upgrade";
import { example, exampleNow } from "../../support/service/examples";
import { type Answer, hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort();
const hasHostInWork = (task: Task) => hostsOf(task).some(({ status }) => status === "IN_PROGRESS");
const hasEnded = ({ status }: Task) => status !== "Pending" && status !== "In Progress";

describe("requests that race for one upgrade", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "0.8", POLL_MIN_MILLISECONDS: "50" });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());

  const draft = async () => {
    const { id } = await service.startUpgrade(example("cluster-draft"));
    await service.taskWhen(id, "waits for its commit", (task) => task.subTasks?.[0]?.status === "SUCCESSFUL");
    return id;
  };
  const patch = (id: string, body?: object) => service.send<Upgrade & ErrorBody>("PATCH", `/v1/upgrades/${id}`, body);
  const cancel = (id: string) => service.send<Task & ErrorBody>("DELETE", `/v1/tasks/${id}`);
  const upgrade = async (id: string) => (await service.get<Upgrade>(`/v1/upgrades/${id}`)).body;

  /** Waits for the end and asserts that Task, Upgrade, list and Temporal all tell of the same one. */
  async function endOf(id: string, expected: { readonly task: string; readonly upgrade: string }): Promise<Task> {
    const task = await service.taskWhen(id, "has ended", hasEnded);
    expect([task.status, (await upgrade(id)).status]).to.deep.equal([expected.task, expected.upgrade]);
    await until("the list agrees", async () => {
      const { body } = await service.get<PageOfUpgrade>(`/v1/upgrades?status=${expected.upgrade}`);
      return body.elements?.filter((one) => one.id === id).length === 1;
    });
    return task;
  }

  it("two retries: one goes on, the other is refused, and no host is done twice", async () => {
    await service.fault({ kind: "REMEDIATION_FAILS", times: 1, message: "bootbank is too small" });
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "has failed", ({ status }) => status === "Failed");
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => service.send<ErrorBody>("PATCH", `/v1/tasks/${id}`)),
    );
    expect(statuses(answers)).to.deep.equal([200, 409, 409, 409, 409]);
    for (const { status, body } of answers) if (status === 409) expect(body.errorCode).to.equal("REQUEST_NOT_POSSIBLE");
    await endOf(id, { task: "Successful", upgrade: "COMPLETED_WITH_SUCCESS" });
    expect(Object.values(await service.remediations()).sort()).to.deep.equal([1, 1, 1, 2]);
  });

  it("a retry and a resolve: one of them is accepted, and the end is what it asked for", async () => {
    await service.fault({ kind: "REMEDIATION_FAILS", times: 1, message: "bootbank is too small" });
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "has failed", ({ status }) => status === "Failed");
    const [retry, resolve] = await Promise.all([
      service.send("PATCH", `/v1/tasks/${id}`),
      service.send("POST", `/v1/upgrades/${id}/resolve`),
    ]);
    expect(statuses([retry, resolve])).to.deep.equal([200, 409]);
    const task =
      retry.status === 200
        ? await endOf(id, { task: "Successful", upgrade: "COMPLETED_WITH_SUCCESS" })
        : await endOf(id, { task: "Failed", upgrade: "COMPLETED_WITH_FAILURE" });
    expect(task.resolutionStatus).to.equal("RESOLVED");
  });

  it("a commit and a cancellation: it is cancelled, whichever comes first, and holds nothing", async () => {
    for (const time of [undefined, { scheduledTimestamp: inHours(1) }, { upgradeNow: true }]) {
      const id = await draft();
      const [committed, cancelled] = await Promise.all([patch(id, time), cancel(id)]);
      expect(cancelled.status, JSON.stringify(cancelled.body)).to.equal(200);
      expect(committed.status, JSON.stringify(committed.body)).to.be.oneOf([200, 409]);
      await endOf(id, { task: "Cancelled", upgrade: "CANCELLED" });
    }
    const next = await service.startUpgrade(exampleNow("cluster-draft"));
    await endOf(next.id, { task: "Successful", upgrade: "COMPLETED_WITH_SUCCESS" });
    expect(Object.values(await service.remediations()).every((count) => count === 1)).to.equal(true);
  });

  it("many cancellations of a host in work: each is told the truth, and it ends once", async () => {
    const policy = await service.policy("domain-c34");
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "has a host in work", hasHostInWork);
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => cancel(id)),
      ...Array.from({ length: 5 }, () => patch(id, { markForCancellation: true })),
    ]);
    expect(answers.some(({ status }) => status === 200)).to.equal(true);
    for (const { status, body } of answers) {
      expect(status, JSON.stringify(body)).to.be.oneOf([200, 409]);
      if (status === 409) expect(body.context).to.deep.equal({ status: "CANCELLED" });
    }
    await endOf(id, { task: "Cancelled", upgrade: "CANCELLED" });
    expect(await service.policy("domain-c34")).to.deep.equal(policy);
  });

  it("two commits with different times: one time holds, for Upgrade, list and Workflow alike", async () => {
    const id = await draft();
    const times = [inHours(1), inHours(2), inHours(3)];
    const answers = await Promise.all(times.map((scheduledTimestamp) => patch(id, { scheduledTimestamp })));
    expect(statuses(answers)).to.deep.equal([200, 200, 200]);
    await until("it waits for its time", async () => (await upgrade(id)).status === "SCHEDULED");
    const { resourceUpgradeSpecs = [] } = await upgrade(id);
    const holds = resourceUpgradeSpecs.map(({ scheduledTimestamp }) => scheduledTimestamp);
    expect(times).to.include(holds[0]);
    const queried = await service.withTemporal((client) => client.workflow.getHandle(id).query<Upgrade>("upgrade"));
    expect(queried).to.deep.equal(await upgrade(id));
    expect((await cancel(id)).status).to.equal(200);
    await endOf(id, { task: "Cancelled", upgrade: "CANCELLED" });
  });

  it("a pause and the end of the last host: it is paused or it is done, never both", async () => {
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "has a host in work", hasHostInWork);
    let paused: Answer<ErrorBody & Upgrade>;
    do {
      paused = await service.send<ErrorBody & Upgrade>("POST", `/v1/upgrades/${id}/pause`);
      if (paused.status === 200) {
        const resumed = await service.send<ErrorBody>("POST", `/v1/upgrades/${id}/resume`);
        expect(resumed.status, JSON.stringify(resumed.body)).to.be.oneOf([200, 409]);
      }
    } while (paused.status === 200);
    expect(paused.status).to.equal(409);
    expect(paused.body.context).to.deep.equal({ status: "COMPLETED_WITH_SUCCESS" });
    await endOf(id, { task: "Successful", upgrade: "COMPLETED_WITH_SUCCESS" });
  });

  it("a cancellation while the worker is killed: it is recorded, and carried out by the next one", async () => {
    const policy = await service.policy("domain-c34");
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "has a host in work", hasHostInWork);
    const killed = service.killAndAwaitSuccessor("worker");
    const { status, body } = await cancel(id);
    expect(status, JSON.stringify(body)).to.be.oneOf([200, 424]);
    if (status === 424) expect(body.errorCode).to.equal("REQUEST_NOT_YET_APPLIED");
    await killed;
    await endOf(id, { task: "Cancelled", upgrade: "CANCELLED" });
    expect(await service.policy("domain-c34")).to.deep.equal(policy);
    expect(Object.values(await service.remediations()).every((count) => count === 1)).to.equal(true);
  });
});
