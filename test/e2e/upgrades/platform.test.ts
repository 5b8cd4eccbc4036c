import { expect } from "chai";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import { mostOutOfService } from "../../support/most-out-of-service";
import { example } from "../../support/service/examples";
import { hostsOf, ServiceUnderTest } from "../../support/service/service-under-test";

const imageCluster = "domain-c34";
const baselineCluster = "domain-c47";

/** A product's or a resource's part of a Task. */
function part(task: Task, type: string): SubTask {
  const all = (parts: readonly SubTask[]): SubTask[] => parts.flatMap((one) => [one, ...all(one.subTasks ?? [])]);
  const found = all(task.subTasks ?? []).find((one) => one.type === type);
  if (!found) throw new Error(`The Task has no ${type}`);
  return found;
}

describe("npm start: the whole platform", function () {
  this.timeout(300_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start();
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());

  it("is upgraded product by product, both kinds of cluster, from POST to Successful", async () => {
    const before = { image: await service.policy(imageCluster), baseline: await service.policy(baselineCluster) };
    const { id } = await service.startUpgrade(example("platform"));
    const done = await service.taskWhen(id, "has ended", ({ status }) => !/Pending|In Progress/.test(status), 200);
    expect(done.errors ?? []).to.deep.equal([]);
    expect(done.status).to.equal("Successful");
    for (const type of ["NETVIRT_UPGRADE", "MGMT_UPGRADE", "HOSTOS_UPGRADE"]) {
      expect(part(done, type).status, type).to.equal("SUCCESSFUL");
    }
    expect(part(done, "MGMT_SERVER_UPGRADE").description).to.equal("Runs 9.0.2.0.");
    expect(hostsOf(done).map(({ status }) => status)).to.deep.equal(Array(7).fill("SUCCESSFUL"));

    const ledger = await service.ledger();
    const steps = ledger.map(({ step }) => step);
    const last = (pattern: RegExp) => steps.findLastIndex((step) => pattern.test(step));
    const first = (pattern: RegExp) => steps.findIndex((step) => pattern.test(step));
    expect(last(/^NSX_NODE_UPGRADED$/)).to.be.greaterThan(-1);
    expect(last(/^NSX_NODE_UPGRADED$/)).to.be.lessThan(first(/^MGMT_MIGRATION_APPLIED$/));
    expect(first(/^MGMT_SWITCHED_OVER$/)).to.be.greaterThan(-1);
    const ofHosts =
      /^(POLICY_SET|IMAGE_COMMITTED|SETTINGS_|APPLY_|MAINTENANCE_|VM_POWER_|REMEDIATED|REBOOT|LIVE_PATCHED)/;
    expect(last(/^MGMT_/), "no host before the management server is done").to.be.lessThan(first(ofHosts));
    for (const cluster of [imageCluster, baselineCluster]) {
      expect(mostOutOfService(ledger, cluster), cluster).to.equal(1);
    }
    expect(Object.values(await service.remediations())).to.deep.equal(Array(7).fill(1));
    expect({
      image: await service.policy(imageCluster),
      baseline: await service.policy(baselineCluster),
    }).to.deep.equal(before);
  });

  it("stops before the products that follow one that fails, and says so on them", async () => {
    await service.fault({ kind: "NSX_NODE_FAILS", node: "fra1-nsx-edge-01.mgmt.example.com", times: 1 });
    const spec = example("platform");
    // Without a failure action there is one attempt.
    const resourceUpgradeSpecs = spec.resourceUpgradeSpecs.map(({ resourceId }) => ({ resourceId, upgradeNow: true }));
    const { id } = await service.startUpgrade({ ...spec, resourceUpgradeSpecs });
    const failed = await service.taskWhen(id, "has failed", ({ status }) => status === "Failed", 120);
    expect(part(failed, "NETVIRT_UPGRADE").status).to.equal("FAILED");
    for (const type of ["MGMT_UPGRADE", "HOSTOS_UPGRADE"]) {
      const { status, description } = part(failed, type);
      expect({ type, status, description }).to.deep.equal({
        type,
        status: "NOT_APPLICABLE",
        description: "Not started, because the upgrade of NETVIRT failed.",
      });
    }
    expect(failed.isRetryable).to.equal(true);
    const steps = (await service.ledger()).map(({ step }) => step);
    expect(steps).not.to.include("APPLY_STARTED");
    expect(steps).not.to.include("MGMT_MIGRATION_APPLIED");
  });

  it("upgrades image-managed and baseline-managed clusters of one request side by side", async () => {
    const { id } = await service.startUpgrade({
      bundleId: "7d1c1f6e-3a52-4f0e-9c11-5c0a90020002",
      resourceType: "CLUSTER",
      resourceUpgradeSpecs: [
        { resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000034", upgradeNow: true },
        {
          resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000047",
          upgradeNow: true,
          customIsoSpec: { id: "5e0b7c42-1d9f-4f3a-8b60-000000000001" },
          hostosUpgradeOptionsSpec: { preRemediationPowerAction: "SUSPEND_VMS" },
        },
      ],
    });
    const done = await service.taskWhen(id, "has ended", ({ status }) => !/Pending|In Progress/.test(status), 120);
    expect(done.errors ?? []).to.deep.equal([]);
    expect(done.status).to.equal("Successful");
    const stages = hostsOf(done).map((host) => host.stages?.[0]?.type);
    expect(stages.filter((type) => type === "CHECK_COMPLIANCE")).to.have.length(4);
    expect(stages.filter((type) => type === "CHECK_VERSION")).to.have.length(3);
    const ledger = await service.ledger();
    const changed = ledger.filter(({ step, cluster }) => step === "VM_POWER_CHANGED" && cluster === baselineCluster);
    expect(changed, "four virtual machines of each host, suspended and started").to.have.length(3 * 4 * 2);
  });
});
