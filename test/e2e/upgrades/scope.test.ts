import { expect } from "chai";
import type { Task } from "../../../src/domain/spec/task";
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
