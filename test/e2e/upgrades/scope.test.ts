import { expect } from "chai";
import type { UpgradePreview } from "../../../src/domain/plan/preview";
import type { Task } from "../../../src/domain/spec/task";
import { eventually } from "../../support/eventually";
import { exampleNow } from "../../support/service/examples";
import { cluster, partsOf } from "../../support/service/servers-under-test";
import { hostsOf, ServiceUnderTest } from "../../support/service/service-under-test";

interface Simulated {
  readonly clusters: readonly {
    readonly id: string;
    readonly hosts: readonly { readonly id: string; readonly name: string; readonly maintenance: string }[];
  }[];
}

interface Refused {
  readonly errors: readonly { readonly errorCode: string; readonly message: string; readonly context?: unknown }[];
}

const ended = ({ status }: Task) => status !== "Pending" && status !== "In Progress";

describe("an upgrade of some hosts of a cluster", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "1", POLL_MIN_MILLISECONDS: "50" });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());

  async function hosts() {
    const { clusters } = await service.simulated<Simulated>();
    return clusters.find(({ id }) => id === "domain-c34")?.hosts ?? [];
  }
  function scoped(scope: object) {
    const { resourceUpgradeSpecs, ...spec } = exampleNow("cluster-draft");
    return {
      ...spec,
      resourceUpgradeSpecs: (resourceUpgradeSpecs as object[]).map((one) => ({ ...one, hosts: scope })),
    };
  }
  async function maintain(host: string): Promise<void> {
    const answer = await fetch(`${service.simulatorUrl}/simulator/hosts/${host}`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ maintenance: "IN" }),
    });
    expect(answer.ok).to.equal(true);
  }

  it("leaves out a host that somebody works on, and is successful with the others", async () => {
    const [first, ...others] = await hosts();
    await maintain(first?.id ?? "");
    const { id } = await service.startUpgrade(scoped({ exclude: [first?.name ?? ""] }));
    const done = await service.taskWhen(id, "ended", ended, 120);
    expect(done.status, JSON.stringify(done.errors)).to.equal("Successful");
    expect(hostsOf(done).map(({ status, reasonCode }) => reasonCode ?? status)).to.deep.equal([
      "NOT_IN_SCOPE",
      ...others.map(() => "SUCCESSFUL"),
    ]);
    expect(Object.keys(await service.remediations()).sort()).to.deep.equal(others.map(({ id }) => id).sort());
    expect((await hosts())[0]?.maintenance).to.equal("IN");
    const { body } = await service.get<{ hosts: object }>(`/v1/upgrades/${id}`);
    expect(body.hosts).to.include({ total: others.length, done: others.length, leftOut: 1 });
    const preview = () => service.post<UpgradePreview>("/v1/upgrades/preview", exampleNow("cluster-draft"));
    const next = await eventually(preview, (answer) => answer.body.expectedSeconds !== undefined);
    expect(next.body.expectedSeconds, "of one host").to.be.within(1, 60);
  });

  it("leaves out a cluster that fails its prechecks, with what they have found, and upgrades the other", async () => {
    await maintain((await hosts())[0]?.id ?? "");
    const { resourceUpgradeSpecs: _one, ...spec } = exampleNow("cluster-draft");
    const resourceUpgradeSpecs = [{ resourceId: cluster("34") }, { resourceId: cluster("08") }];
    const { id } = await service.startUpgrade({ ...spec, resourceUpgradeSpecs, onPrecheckFailure: "SKIP_RESOURCE" });
    const done = await service.taskWhen(id, "ended", ended, 150);
    expect(done.status, JSON.stringify(done.errors)).to.equal("COMPLETED_WITH_WARNING");
    const parts = partsOf(done, "CLUSTER_UPGRADE");
    expect(parts.map(({ status, reasonCode }) => reasonCode ?? status)).to.deep.equal([
      "PRECHECK_FAILED",
      "SUCCESSFUL",
    ]);
    expect(JSON.stringify(parts[0]?.errors)).to.contain("HOST_IN_MAINTENANCE_MODE");
    const { body } = await service.get<{ leftOut: object[] }>(`/v1/upgrades/${id}`);
    expect(body.leftOut).to.have.length(1);
    expect(body.leftOut[0]).to.include({ resourceId: cluster("34"), reasonCode: "PRECHECK_FAILED" });
  });

  for (const [who, onPrecheckFailure] of [
    ["the request", "SKIP_RESOURCE"],
    ["an operator", "FAIL"],
  ] as const)
    it(`commits a draft without the cluster that failed its prechecks, where ${who} leaves it out`, async () => {
      await maintain((await hosts())[0]?.id ?? "");
      const spec = { ...exampleNow("cluster-draft"), draftMode: true, onPrecheckFailure };
      const resourceUpgradeSpecs = [{ resourceId: cluster("34") }, { resourceId: cluster("08") }];
      const { id } = await service.startUpgrade({ ...spec, resourceUpgradeSpecs });
      await service.taskWhen(id, "prechecked", ({ subTasks }) => /FAILED|SUCCESS/.test(subTasks?.[0]?.status ?? ""));
      if (onPrecheckFailure === "FAIL") {
        const skip = { resourceId: cluster("34"), reason: "Its host is being repaired." };
        expect((await service.post(`/v1/upgrades/${id}/skip`, skip)).status).to.equal(200);
      }
      const { status, body } = await service.send("PATCH", `/v1/upgrades/${id}`, {});
      expect(status, JSON.stringify(body)).to.equal(200);
      const done = await service.taskWhen(id, "ended", ended, 150);
      expect(done.status, JSON.stringify(done.errors)).to.equal("COMPLETED_WITH_WARNING");
    });

  it("leaves out a host in mid-run, and what fails is left out by a retry of the rest", async () => {
    const [first, second, ...others] = await hosts();
    const resourceId = cluster("34");
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    const reason = "Its power supply is being replaced.";
    const skip = (part: object) => service.post<Refused>(`/v1/upgrades/${id}/skip`, { ...part, reason });
    expect((await skip({ resourceId, hostId: others[0]?.name })).status, "before or while it is read").to.equal(200);
    expect(JSON.stringify((await skip({ resourceId, hostId: "esx-none" })).body)).to.contain("HOST_UNKNOWN");
    expect((await skip({ resourceId: cluster("08") })).status).to.equal(400);
    expect((await service.post(`/v1/upgrades/${id}/skip`, { resourceId })).status, "without a reason").to.equal(400);
    await service.taskWhen(
      id,
      "host in work",
      (task) => hostsOf(task).some(({ status }) => status === "IN_PROGRESS"),
      60,
    );
    const whole = await skip({ resourceId });
    expect([whole.status, JSON.stringify(whole.body)].join()).to.match(/^409.*RESOURCE_IN_WORK/);
    const done = await service.taskWhen(id, "ended", ended, 120);
    expect(done.status, JSON.stringify(done.errors)).to.equal("COMPLETED_WITH_WARNING");
    expect(hostsOf(done).map(({ status, reasonCode }) => reasonCode ?? status)).to.deep.equal([
      ...["SUCCESSFUL", "SUCCESSFUL", "SKIPPED_BY_OPERATOR"],
      ...others.slice(1).map(() => "SUCCESSFUL"),
    ]);
    expect(Object.keys(await service.remediations())).to.include.members([first?.id, second?.id]);
    expect(Object.keys(await service.remediations())).not.to.include(others[0]?.id);
    const { body } = await service.get<{ leftOut: object[] }>(`/v1/upgrades/${id}`);
    expect(body.leftOut).to.deep.include.members([
      {
        ...{ resourceId, name: body.leftOut.map((one) => (one as { name: string }).name)[0] },
        ...{ reasonCode: "SKIPPED_BY_OPERATOR", hostId: others[0]?.id, hostName: others[0]?.name },
      },
    ]);
    expect((await skip({ resourceId, hostId: first?.id })).status, "after its end").to.equal(409);
  });

  it("retries one of two failed clusters alone, and then without the host that fails", async () => {
    const [first] = await hosts();
    await maintain(first?.id ?? "");
    const { resourceUpgradeSpecs: _one, ...spec } = exampleNow("cluster-draft");
    const resourceUpgradeSpecs = [{ resourceId: cluster("34") }, { resourceId: cluster("08") }];
    const { id } = await service.startUpgrade({ ...spec, resourceUpgradeSpecs });
    await service.taskWhen(id, "failed its prechecks", ({ status }) => status === "Failed", 60);
    const retry = (body: object) => service.post<Refused>(`/v1/upgrades/${id}/retry`, body);
    expect(JSON.stringify((await retry({ skipHosts: ["esx-none"] })).body)).to.contain("skipHosts[0]");
    expect((await retry({ resourceIds: [cluster("08")] })).status).to.equal(200);
    const half = await service.taskWhen(
      id,
      "half done",
      (task) => task.status === "Failed" && partsOf(task, "CLUSTER_UPGRADE").some((one) => one.status === "SUCCESSFUL"),
      120,
    );
    expect(half.errors?.at(-1)?.errorCode).to.equal("RESOURCE_NOT_RETRIED");
    const answer = await retry({ skipResources: [cluster("34")], reason: "Another night." });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    const done = await service.taskWhen(id, "ended", ended, 60);
    expect(done.status, JSON.stringify(done.errors)).to.equal("COMPLETED_WITH_WARNING");
    expect(partsOf(done, "CLUSTER_UPGRADE").map(({ status, reasonCode }) => reasonCode ?? status)).to.deep.equal([
      "SKIPPED_BY_OPERATOR",
      "SUCCESSFUL",
    ]);
  });

  it("previews the hosts that it would leave out", async () => {
    const [first, second] = await hosts();
    const { status, body } = await service.post<{ products: { resources: { hostsNotInScope?: string[] }[] }[] }>(
      "/v1/upgrades/preview",
      scoped({ exclude: [first?.id, second?.name] }),
    );
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.products.flatMap(({ resources }) => resources.flatMap((one) => one.hostsNotInScope))).to.deep.equal([
      first?.name,
      second?.name,
    ]);
  });

  it("refuses hosts that the cluster does not have, with the nearest name", async () => {
    const [first] = await hosts();
    const typo = (first?.name ?? "").replace("-esx-", "-esc-");
    for (const path of ["/v1/upgrades/preview", "/v1/upgrades"]) {
      const { status, body } = await service.post<Refused>(path, scoped({ include: [typo] }));
      expect(status).to.equal(400);
      expect(JSON.stringify(body))
        .to.contain("resourceUpgradeSpecs[0].hosts.include[0]")
        .and.to.contain("HOST_UNKNOWN")
        .and.to.contain(first?.name);
    }
  });
});
