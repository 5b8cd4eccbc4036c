import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import type { UpgradePreview } from "../../../src/domain/plan/preview";
import type { Task } from "../../../src/domain/spec/task";
import type { RolloutSpec } from "../../../src/domain/spec/upgrade-spec";
import { ConfigWithReceiver } from "../../support/config-with-receiver";
import { exampleNow } from "../../support/service/examples";
import { hostsOf, ServiceUnderTest } from "../../support/service/service-under-test";

const ended = ({ status }: Task) => status !== "Pending" && status !== "In Progress";

describe("the rollout that a request asks for", function () {
  this.timeout(180_000);
  const config = new ConfigWithReceiver("no-secret");
  let service: ServiceUnderTest;

  before(async () => {
    const inventory = readFileSync(config.inventory, "utf8");
    const own = "rollout: {hostsAtOnce: 2, soakSeconds: 1, toleratedFailures: 1}";
    const changed = inventory.replace("    name: fra1-mgmt-cl01\n", `$&    ${own}\n`);
    expect(changed).not.to.equal(inventory);
    writeFileSync(config.inventory, changed);
    service = await ServiceUnderTest.start({
      SIMULATOR_HOST_SECONDS: "0.4",
      POLL_MIN_MILLISECONDS: "50",
      INVENTORY_FILE: config.inventory,
    });
  });
  after(async () => {
    await service.discard();
    config.discard();
  });
  beforeEach(() => service.resetSimulator());

  function asking(rollout: RolloutSpec) {
    const { resourceUpgradeSpecs, ...spec } = exampleNow("cluster-draft");
    return {
      ...spec,
      draftMode: false,
      resourceUpgradeSpecs: (resourceUpgradeSpecs as object[]).map((one) => ({ ...one, rollout })),
    };
  }

  /** An upgrade by this rollout of which one host fails, at its end. */
  async function withFailedHost(rollout: RolloutSpec) {
    await service.fault({ kind: "REMEDIATION_FAILS", cluster: "domain-c34", times: 1 });
    const { id } = await service.startUpgrade(asking(rollout));
    const task = await service.taskWhen(id, "ended", ended, 120);
    return { status: task.status, hosts: hostsOf(task).map(({ status }) => status), errors: task.errors ?? [] };
  }

  it("is refused where it is less careful than the policy, with the limit and the field", async () => {
    for (const path of ["/v1/upgrades/preview", "/v1/upgrades"]) {
      const { status, body } = await service.post(path, asking({ hostsAtOnce: 3, soakSeconds: 0 }));
      expect(status).to.equal(403);
      expect(JSON.stringify(body))
        .to.contain("ROLLOUT_BEYOND_POLICY")
        .and.to.contain("resourceUpgradeSpecs[0].rollout.hostsAtOnce")
        .and.to.contain("limits hostsAtOnce to at most 2;")
        .and.to.contain("resourceUpgradeSpecs[0].rollout.soakSeconds")
        .and.to.contain("limits soakSeconds to at least 1;");
    }
    const { status, body } = await service.post("/v1/upgrades", { ...asking({ toleratedFailures: "ten" }) });
    expect(status).to.equal(400);
    expect(JSON.stringify(body)).to.contain("toleratedFailures").and.to.contain("a percentage such as 10%");
  });

  it("is in the preview, with what it leaves to the policy", async () => {
    const rollout = { hostsAtOnce: 1, toleratedFailures: "10%" };
    const { status, body } = await service.post<UpgradePreview>("/v1/upgrades/preview", asking(rollout));
    expect(status, JSON.stringify(body)).to.equal(200);
    const [cluster] = body.products.flatMap(({ resources }) => resources);
    expect(cluster).to.include({ hostsAtOnce: 1, soakSeconds: 1, toleratedFailures: 0 });
    expect(body.waves.length).to.equal(cluster?.hostCount);
  });

  it("ends with a warning after as many failed hosts as are tolerated", async () => {
    const { status, hosts, errors } = await withFailedHost({ hostsAtOnce: 1, toleratedFailures: 1 });
    expect(status).to.equal("COMPLETED_WITH_WARNING");
    expect(hosts).to.deep.equal(["FAILED", ...hosts.slice(1).map(() => "SUCCESSFUL")]);
    expect(errors.map(({ errorCode }) => errorCode)).to.deep.equal(["HOSTS_FAILED_WITHIN_TOLERANCE"]);
  });

  it("stops a cluster that the policy would let go on", async () => {
    const { status, hosts } = await withFailedHost({ hostsAtOnce: 1, toleratedFailures: 0 });
    expect(status).to.equal("Failed");
    expect(hosts).to.deep.equal(["FAILED", ...hosts.slice(1).map(() => "NOT_APPLICABLE")]);
  });
});
