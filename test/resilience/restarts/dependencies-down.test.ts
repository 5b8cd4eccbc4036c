import { expect } from "chai";
import type { ErrorBody } from "../../../src/domain/errors";
import { example, exampleNow } from "../../support/service/examples";
import { ServiceUnderTest } from "../../support/service/service-under-test";

describe("dependencies that do not answer", function () {
  this.timeout(120_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start();
  });
  after(() => service.discard());

  async function within<A>(milliseconds: number, work: () => Promise<A>): Promise<A> {
    const began = Date.now();
    const result = await work();
    expect(Date.now() - began).to.be.lessThan(milliseconds);
    return result;
  }

  it("component manager: POST is 424 and names it, reads go on", async () => {
    // With a session that is open already, the reads behind it are what hangs.
    await service.startUpgrade(example("cluster-draft"));
    service.signal("simulator", "SIGSTOP");
    // Of another cluster: what it has just said holds for half a second.
    const resourceUpgradeSpecs = example("clusters-with-retry").resourceUpgradeSpecs.slice(0, 1);
    const another = { ...example("cluster-draft"), resourceUpgradeSpecs };
    const refused = await within(8_000, () => service.post<ErrorBody>("/v1/upgrades", another));
    service.signal("simulator", "SIGCONT");
    expect(refused.status).to.equal(424);
    expect(refused.body.errorCode).to.equal("COMPONENT_MANAGER_UNREACHABLE");
    expect(refused.body.message).to.contain("fra1-vc01").and.not.contain("..");
    expect(refused.body.referenceToken).to.equal(refused.headers.get("x-request-id"));
    expect((await service.get("/v1/upgrades")).status).to.equal(200);
  });

  it("Temporal: POST is 424, reads are 500, readiness is 503, and all recover by themselves", async () => {
    service.signal("temporalServer", "SIGSTOP");
    const [post, hopeless, list, ready, live] = await within(8_000, () =>
      Promise.all([
        service.post<ErrorBody>("/v1/upgrades", exampleNow("cluster-draft")),
        service.post<ErrorBody>("/v1/upgrades", {
          ...exampleNow("cluster-draft"),
          resourceUpgradeSpecs: [{ resourceId: "x" }],
        }),
        service.get<ErrorBody>("/v1/upgrades"),
        service.get<ErrorBody>("/health/ready"),
        service.get("/health/live"),
      ]),
    );
    service.signal("temporalServer", "SIGCONT");
    expect([hopeless.status, hopeless.body.errorCode]).to.deep.equal([400, "INVALID_REQUEST"]);
    expect([post.status, list.status, ready.status, live.status]).to.deep.equal([424, 500, 503, 200]);
    for (const { body } of [post, list, ready]) expect(body.errorCode).to.equal("TEMPORAL_UNREACHABLE");
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
  });
});
