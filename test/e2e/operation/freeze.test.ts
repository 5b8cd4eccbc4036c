import { expect } from "chai";
import type { PageOfActivity } from "../../../src/domain/activity/upgrade-activity";
import type { ErrorBody } from "../../../src/domain/errors";
import type { FreezeStatus } from "../../../src/domain/freeze";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { Upgradectl } from "../../support/run-upgradectl";
import { example, exampleNow } from "../../support/service/examples";
import { type Answer, hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";
import { expectEachHostUpgradedOnce, upgradeInTheMiddleOfAHost } from "../../support/service/upgrade-in-the-middle";

function refusal({ status, body }: Answer, expected: number, code: string): ErrorBody {
  const error = body as ErrorBody;
  expect({ status, code: error.errorCode }, JSON.stringify(body)).to.deep.equal({ status: expected, code });
  return error;
}

describe("the emergency stop over HTTP", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "2", POLL_MIN_MILLISECONDS: "50" });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());
  afterEach(() => thaw());

  async function freeze(spec: object): Promise<FreezeStatus> {
    const { status, body } = await service.send<FreezeStatus>("PUT", "/v1/freeze", spec);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  }
  const thaw = async () => (await service.send<FreezeStatus>("DELETE", "/v1/freeze")).body;
  const begun = async () => Object.keys(await service.remediations()).length;
  const untilFrozen = (id: string) =>
    until(`upgrade ${id} waits for the end of the freeze`, async () => {
      const { phase, waitingFor } = (await service.get<Upgrade>(`/v1/upgrades/${id}`)).body;
      return phase === "WAITING" && waitingFor?.code === "FROZEN";
    });

  it("refuses starts and commits with who and why, lets drafts be created, and is read as it is", async () => {
    const draft = await service.startUpgrade(example("cluster-draft"));
    await service.taskWhen(draft.id, "waits for its commit", ({ subTasks }) => subTasks?.[0]?.status === "SUCCESSFUL");
    const { frozen, freezes } = await freeze({ reason: "Storage is lost" });
    expect(frozen).to.equal(true);
    expect(freezes.map(({ reason, domain }) => ({ reason, domain }))).to.deep.equal([
      { reason: "Storage is lost", domain: undefined },
    ]);
    const { message } = refusal(await service.post("/v1/upgrades", exampleNow("cluster-draft")), 403, "FROZEN");
    expect(message).to.contain(`${freezes[0]?.frozenBy} froze all upgrades`).and.to.contain("Storage is lost");
    refusal(await service.post("/v1/upgrades/preview", exampleNow("cluster-draft")), 403, "FROZEN");
    refusal(await service.send("PATCH", `/v1/upgrades/${draft.id}`, {}), 403, "FROZEN");
    expect((await service.post("/v1/upgrades", example("cluster-draft"))).status).to.equal(202);
    expect((await service.get<FreezeStatus>("/v1/freeze")).body.freezes).to.deep.equal(freezes);
    expect(await thaw()).to.deep.include({ frozen: false, freezes: [] });
    expect((await service.send("PATCH", `/v1/upgrades/${draft.id}`, {})).status).to.equal(200);
    await service.taskWhen(draft.id, "has ended", ({ status }) => status === "Successful", 90);
    const { elements = [] } = (await service.get<PageOfActivity>(`/v1/upgrades/${draft.id}/activity`)).body;
    expect(elements.filter(({ kind, errorCode }) => kind === "COMMIT" && errorCode === "FROZEN")).to.have.length(1);
  });

  it("begins no host from its answer on, also with a worker killed in between, and continues when it is lifted", async () => {
    const id = await upgradeInTheMiddleOfAHost(service);
    expect((await freeze({ reason: "Stop", domains: ["fra1"] })).hostsInWork).to.equal(1);
    await service.killAndAwaitSuccessor("worker");
    await untilFrozen(id);
    expect(await begun()).to.equal(1);
    const hosts = hostsOf(await service.task(id)).map(({ status }) => status);
    expect(hosts).to.deep.equal(["SUCCESSFUL", "PENDING", "PENDING", "PENDING"]);
    expect((await service.get<FreezeStatus>("/v1/freeze")).body.hostsInWork).to.equal(0);
    await thaw();
    await expectEachHostUpgradedOnce(service, id);
  });

  it("stays frozen where everything dies at once", async () => {
    await freeze({ reason: "Stop", domains: ["fra1"] });
    await service.stop("SIGKILL");
    await service.startAgain();
    await until("the freeze can be read", async () => (await service.get("/v1/freeze")).status === 200);
    expect((await service.get<FreezeStatus>("/v1/freeze")).body.freezes[0]?.domain).to.equal("fra1");
    refusal(await service.post("/v1/upgrades", exampleNow("cluster-draft")), 403, "FROZEN");
  });

  it("keeps the freezes of domains and of everything apart, and ends each at its time", async () => {
    await freeze({ reason: "Of fra1", domains: ["fra1"] });
    const until5s = new Date(Date.now() + 5_000).toISOString();
    const { freezes } = await freeze({ reason: "Of all", until: until5s });
    expect(freezes.map(({ reason, domain }) => [reason, domain])).to.deep.equal([
      ["Of all", undefined],
      ["Of fra1", "fra1"],
    ]);
    await until("the freeze of all has ended", async () => {
      const { body } = await service.get<FreezeStatus>("/v1/freeze");
      return body.freezes.length === 1 && body.freezes[0]?.domain === "fra1";
    });
    const { body } = await service.send<FreezeStatus>("DELETE", "/v1/freeze?domain=fra1");
    expect(body.frozen).to.equal(false);
  });

  it("refuses what it cannot freeze, by its field", async () => {
    const put = (spec: object) => service.send("PUT", "/v1/freeze", spec);
    expect(refusal(await put({ reason: "x", domains: ["nowhere"] }), 400, "DOMAIN_UNKNOWN").context?.["path"]).to.equal(
      "domains[0]",
    );
    refusal(await put({ domains: ["fra1"] }), 400, "MISSING_FIELD");
    refusal(await put({ reason: " " }), 400, "INVALID_FIELD");
    refusal(await put({ reason: "x", until: "2020-01-01T00:00:00Z" }), 400, "SCHEDULE_IN_THE_PAST");
    refusal(await put({ reason: "x", domain: "fra1" }), 400, "UNKNOWN_FIELD");
    refusal(await service.send("DELETE", "/v1/freeze?domain=nowhere"), 400, "DOMAIN_UNKNOWN");
    expect((await service.get<FreezeStatus>("/v1/freeze")).body.frozen).to.equal(false);
  });

  it("is pulled and lifted by upgradectl, audited, and measured", async () => {
    const cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: service.apiUrl, UPGRADECTL_TOKEN: "alice" };
    const pulled = await cli.run(["freeze", "--reason", "Storage is lost", "--domain", "fra1"]);
    expect(pulled.code, pulled.stderr).to.equal(0);
    expect(pulled.stdout).to.contain("Domain fra1 has been frozen by").and.to.contain("Storage is lost");
    expect((await cli.run(["freeze"])).stdout).to.equal(pulled.stdout);
    const metrics = await (await fetch(`${service.apiUrl}/metrics`, { headers: { authorization: "Bearer x" } })).text();
    expect(metrics).to.contain("ums_freezes 1");
    expect((await cli.run(["thaw"])).stdout).to.equal("Nothing is frozen.\n");
    const lines = service.log("api") as readonly { readonly action?: string; readonly outcome?: string }[];
    expect(lines.map(({ action, outcome }) => [action, outcome])).to.deep.include.members([
      ["putFreeze", "DONE"],
      ["liftFreeze", "DONE"],
    ]);
  });
});
