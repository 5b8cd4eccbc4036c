import { expect } from "chai";
import type { ErrorBody } from "../../../src/domain/errors";
import type { Task } from "../../../src/domain/spec/task";
import { soapFault } from "../../support/soap-fault";
import { example, exampleNow } from "../../support/service/examples";
import { hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";

const ended = ({ status }: Task) => !/Pending|In Progress/.test(status);

describe("managers that are unwell for moments", function () {
  this.timeout(300_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start();
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());

  it("end nothing of an upgrade of all products, each with one attempt", async () => {
    const happens = (step: string) =>
      until(step, async () => (await service.ledger()).some((entry) => entry.step === step));
    const spec = example("platform");
    const resourceUpgradeSpecs = spec.resourceUpgradeSpecs.map(({ resourceId }) => ({ resourceId, upgradeNow: true }));
    const { id } = await service.startUpgrade({ ...spec, resourceUpgradeSpecs });
    await happens("NSX_NODE_STARTED");
    await service.fault({ kind: "ANSWERS", path: "/nsx/", status: 500, body: "<html></html>", times: 3 });
    await service.fault({ kind: "LIFECYCLE_STARTS_LATE", seconds: 25, status: 404, times: 1 });
    await happens("MGMT_MIGRATION_SET");
    await service.fault({ kind: "ANSWERS", path: "/lcm/", status: 404, body: "<html></html>", times: 3 });
    await happens("APPLY_STARTED");
    await service.fault({ kind: "ANSWERS", method: "GET", path: "/api/cis/tasks", status: 500, times: 3 });
    const soap = { status: 500, contentType: "text/xml", body: soapFault("RuntimeFault") };
    await service.fault({ kind: "ANSWERS", path: "/sdk/RetrievePropertiesEx", ...soap, times: 3 });
    await happens("REMEDIATED");
    await service.fault({ kind: "MANAGER_RESTARTS", seconds: 3 });
    const done = await service.taskWhen(id, "has ended", ended, 200);
    expect([done.status, done.errors ?? []]).to.deep.equal(["Successful", []]);
    expect(hostsOf(done).map(({ status }) => status)).to.deep.equal(Array(7).fill("SUCCESSFUL"));
    const faults = (await (await fetch(`${service.simulatorUrl}/simulator/faults`)).json()) as { remaining?: number }[];
    expect(
      faults.filter(({ remaining = 0 }) => remaining > 0),
      "faults that met nothing",
    ).to.deep.equal([]);
    const steps = (await service.ledger()).map(({ step }) => step);
    for (const once of ["MGMT_MIGRATION_SET", "MGMT_SWITCHED_OVER", "MANAGER_RESTARTED"])
      expect(steps.filter((step) => step === once)).to.deep.equal([once]);
  });

  it("carry out what they did not answer later than the upgrade is done, and it says what became of that", async () => {
    const cluster = "domain-c47";
    const requested = async () =>
      (await service.ledger()).filter((entry) => entry.cluster === cluster && entry.step === "MAINTENANCE_REQUESTED");
    const { id } = await service.startUpgrade({
      ...exampleNow("cluster-draft"),
      resourceUpgradeSpecs: [
        {
          resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000047",
          upgradeNow: true,
          hostosUpgradeOptionsSpec: { preRemediationPowerAction: "POWER_OFF_VMS" },
        },
      ],
    });
    await until("the second host is emptied", async () => (await requested()).length === 2);
    // The last host takes less than that.
    await service.fault({ kind: "LATE", path: "/sdk/PowerOffVM_Task", milliseconds: 4_500, times: 1 });
    const done = await service.taskWhen(id, "has ended", ended, 120);
    expect(done.status).to.equal("COMPLETED_WITH_WARNING");
    expect(JSON.stringify(done.errors)).to.contain("VMS_NOT_RUNNING");
  });

  it("are told at once at the first contact", async () => {
    await service.fault({ kind: "ANSWERS", path: "/api/esx", status: 404, body: "<html></html>", seconds: 100 });
    const { status, body } = await service.post<ErrorBody>("/v1/upgrades", exampleNow("cluster-draft"));
    expect([status, JSON.stringify(body).includes("fra1-vc01 answered 404")]).to.deep.equal([424, true]);
    expect((await service.ledger()).length).to.equal(0);
  });

  it("are told at once where they refuse the password, by its code", async () => {
    await service.fault({ kind: "ANSWERS", path: "/api/", status: 401, body: "{}", seconds: 100 });
    const { status, body } = await service.post<ErrorBody>("/v1/upgrades", exampleNow("cluster-draft"));
    expect([status, body.errorCode]).to.deep.equal([424, "AUTHENTICATION"]);
    expect(body.message).to.contain("rejected the service's user name and password");
    expect(body.remediationMessage).to.match(/inventory, then send the request again\.$/);
    expect((await service.ledger()).length).to.equal(0);
  });
});
