import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import type { Upgrade } from "../../src/domain/upgrade";
import { example, exampleNow } from "./examples";
import { hostsOf, isAlive, ServiceUnderTest, until, type ProcessName } from "./service-under-test";

const spec = exampleNow("cluster-draft");

/** Starts an upgrade and waits until a host of it is being remediated. */
async function upgradeInTheMiddleOfAHost(service: ServiceUnderTest): Promise<string> {
  const { id } = await service.startUpgrade(spec);
  await until("a host is being remediated", async () =>
    (await service.ledger()).some(({ step }) => step === "MAINTENANCE_ENTERED"),
  );
  return id;
}

async function expectEachHostUpgradedOnce(service: ServiceUnderTest, id: string): Promise<void> {
  const task = await service.taskWhen(id, "has ended", ({ status }) => status === "Successful" || status === "Failed");
  expect(task.status, JSON.stringify(task.errors)).to.equal("Successful");
  expect(hostsOf(task).map(({ status }) => status)).to.deep.equal(Array(4).fill("SUCCESSFUL"));
  expect(Object.values(await service.remediations())).to.deep.equal([1, 1, 1, 1]);
}

describe("kill -9 of one process in the middle of a host, with the failure action FAIL", function () {
  this.timeout(120_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "1.5" });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());

  for (const victim of ["worker", "api", "simulator", "temporalServer", "temporal"] satisfies ProcessName[]) {
    it(`${victim}: uses up no attempt and upgrades no host twice`, async () => {
      const policy = await service.policy("domain-c34");
      const id = await upgradeInTheMiddleOfAHost(service);
      await service.killAndAwaitSuccessor(victim);
      await expectEachHostUpgradedOnce(service, id);
      expect(await service.policy("domain-c34")).to.deep.equal(policy);
    });
  }
});

describe("kill -9 of the worker while the settings of clusters are switched off", function () {
  this.timeout(120_000);
  let service: ServiceUnderTest;

  const folder = mkdtempSync(join(tmpdir(), "ums-dpm-on-"));

  before(async () => {
    const shipped = readFileSync(resolve(__dirname, "../../config/simulator.yaml"), "utf8");
    const SIMULATOR_CONFIG = join(folder, "dpm-on.yaml");
    writeFileSync(SIMULATOR_CONFIG, shipped.replaceAll("dpm: false", "dpm: true"));
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "1.5", SIMULATOR_CONFIG });
  });
  after(async () => {
    await service.discard();
    rmSync(folder, { recursive: true });
  });

  it("leaves HA admission control, DPM and the remediation policy as they were, on both kinds of cluster", async () => {
    const simulated = ["domain-c34", "domain-c47"];
    const read = () => Promise.all(simulated.map((cluster) => service.policy(cluster)));
    const before = await read();
    for (const settings of before) expect(settings).to.include({ admissionControl: true, dpm: true });
    const hostosUpgradeOptionsSpec = { disableHac: true, disableDpm: true };
    const { id } = await service.startUpgrade({
      ...spec,
      draftMode: false,
      resourceUpgradeSpecs: ["34", "47"].map((number) => ({
        resourceId: `4a6c1a1e-51b2-4d3c-9e0f-0000000000${number}`,
        upgradeNow: true,
        hostosUpgradeOptionsSpec,
      })),
    });
    await until("a host of each is in maintenance mode", async () => {
      const entered = (await service.ledger()).filter(({ step }) => step === "MAINTENANCE_ENTERED");
      return simulated.every((cluster) => entered.some((entry) => entry.cluster === cluster));
    });
    for (const settings of await read()) expect(settings).to.include({ admissionControl: false, dpm: false });
    await service.killAndAwaitSuccessor("worker");
    const task = await service.taskWhen(id, "has ended", ({ status }) => !/Pending|In Progress/.test(status));
    expect(task.status, JSON.stringify(task.errors)).to.equal("Successful");
    expect(await read()).to.deep.equal(before);
    expect(Object.values(await service.remediations())).to.deep.equal(Array(7).fill(1));
  });
});

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

    const pids = Object.values(service.processes());
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
    const pids = Object.values(service.processes());
    service.signal("supervisor", "SIGKILL");
    await until("no process is left", () => !pids.some(isAlive), 20);
    await service.startAgain();
    await expectEachHostUpgradedOnce(service, id);
  });

  it("accepts an upgrade and shows it while no worker runs", async () => {
    service.signal("worker", "SIGSTOP");
    const { id } = await service.startUpgrade(spec);
    expect((await service.task(id)).status).to.equal("Pending");
    expect((await service.get<Upgrade>(`/v1/upgrades/${id}`)).body.status).to.equal("PENDING");
    service.signal("worker", "SIGCONT");
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
  });
});
