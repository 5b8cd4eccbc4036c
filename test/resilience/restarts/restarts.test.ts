import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { exampleNow } from "../../support/service/examples";
import { processNames, ServiceUnderTest, until } from "../../support/service/service-under-test";
import { expectEachHostUpgradedOnce, upgradeInTheMiddleOfAHost } from "../../support/service/upgrade-in-the-middle";

const spec = exampleNow("cluster-draft");

describe("kill -9 of one process in the middle of a host, with the failure action FAIL", function () {
  this.timeout(120_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "1.5" });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());

  for (const victim of processNames) {
    it(`${victim}: uses up no attempt and upgrades no host twice`, async () => {
      const policy = await service.policy("domain-c34");
      const id = await upgradeInTheMiddleOfAHost(service);
      await service.killAndAwaitSuccessor(victim);
      await expectEachHostUpgradedOnce(service, id);
      expect(await service.policy("domain-c34")).to.deep.equal(policy);
    });
  }
});

describe("kill -9 of one process while each host takes but a moment", function () {
  this.timeout(120_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "0.2" });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());

  for (const victim of processNames) {
    it(`${victim}: uses up no attempt and upgrades no host twice`, async () => {
      const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
      await until("a later host is being remediated", async () => {
        const started = (await service.ledger()).filter(({ step }) => step === "APPLY_STARTED");
        return started.length >= 2;
      });
      await service.killAndAwaitSuccessor(victim);
      await expectEachHostUpgradedOnce(service, id);
    });
  }
});

describe("kill -9 of the worker while the settings of clusters are switched off", function () {
  this.timeout(120_000);
  let service: ServiceUnderTest;

  const folder = mkdtempSync(join(tmpdir(), "ums-dpm-on-"));

  before(async () => {
    const shipped = readFileSync(resolve(__dirname, "../../../config/simulator.yaml"), "utf8");
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
