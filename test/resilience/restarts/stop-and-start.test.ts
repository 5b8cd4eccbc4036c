import { expect } from "chai";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { example, exampleNow } from "../../support/service/examples";
import { isAlive, ServiceUnderTest, until } from "../../support/service/service-under-test";
import { expectEachHostUpgradedOnce, upgradeInTheMiddleOfAHost } from "../../support/service/upgrade-in-the-middle";

describe("stopping and starting everything", function () {
  this.timeout(120_000);
  let service: ServiceUnderTest;

  beforeEach(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "1" });
  });
  afterEach(() => service.discard());

  it("keeps drafts and scheduled upgrades, and leaves no process behind", async () => {
    const draft = await service.startUpgrade(example("cluster-draft"));
    const scheduled = await service.startUpgrade(example("cluster-scheduled"));
    const statusOf = async (id: string) => (await service.get<Upgrade>(`/v1/upgrades/${id}`)).body.status;
    await service.taskWhen(draft.id, "waits", ({ subTasks }) => subTasks?.[0]?.status === "SUCCESSFUL");
    await until("the other is scheduled", async () => (await statusOf(scheduled.id)) === "SCHEDULED");

    const pids = Object.values(service.processes()).flat();
    expect(pids).to.have.length(6);
    const began = Date.now();
    expect(await service.stop()).to.equal(0);
    expect(Date.now() - began).to.be.lessThan(15_000);
    expect(pids.filter(isAlive)).to.deep.equal([]);

    await service.startAgain();
    expect(await statusOf(draft.id)).to.equal("DRAFT");
    expect(await statusOf(scheduled.id)).to.equal("SCHEDULED");
    await service.signalUpgrade(draft.id, "commit");
    await service.signalUpgrade(scheduled.id, "commit", { upgradeNow: true });
    for (const { id } of [draft, scheduled]) {
      await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
    }
  });

  it("by SIGINT in the middle of a host goes on where it was", async () => {
    const id = await upgradeInTheMiddleOfAHost(service);
    expect(await service.stop("SIGINT")).to.equal(0);
    await service.startAgain();
    await expectEachHostUpgradedOnce(service, id);
  });

  it("by kill -9 of npm start itself leaves no process behind, and the next start goes on", async () => {
    const id = await upgradeInTheMiddleOfAHost(service);
    const pids = Object.values(service.processes()).flat();
    service.signal("supervisor", "SIGKILL");
    await until("no process is left", () => !pids.some(isAlive), 20);
    await service.startAgain();
    await expectEachHostUpgradedOnce(service, id);
  });

  it("accepts an upgrade and shows it while no worker runs", async () => {
    service.signal("worker", "SIGSTOP");
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    expect((await service.task(id)).status).to.equal("Pending");
    expect((await service.get<Upgrade>(`/v1/upgrades/${id}`)).body.status).to.equal("PENDING");
    service.signal("worker", "SIGCONT");
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
  });
});
