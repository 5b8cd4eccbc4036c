import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { hashPassword } from "../../../src/authentication/users";
import type { PageOfActivity } from "../../../src/domain/activity/upgrade-activity";
import type { ErrorBody } from "../../../src/domain/errors";
import type { Hold, PageOfHold } from "../../../src/domain/hold";
import type { UpgradePreview } from "../../../src/domain/plan/preview";
import type { Cluster } from "../../../src/domain/spec/cluster";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import type { UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import { ConfigWithReceiver } from "../../support/config-with-receiver";
import { Upgradectl } from "../../support/run-upgradectl";
import { example, exampleNow } from "../../support/service/examples";
import { type Answer, hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";
import { upgradeInTheMiddleOfAHost } from "../../support/service/upgrade-in-the-middle";

function refusal({ status, body }: Answer, expected: number, code: string): ErrorBody {
  const error = body as ErrorBody;
  expect({ status, code: error.errorCode }, JSON.stringify(body)).to.deep.equal({ status: expected, code });
  return error;
}

const heldCluster = (example("cluster-draft") as UpgradeSpec).resourceUpgradeSpecs[0]?.resourceId ?? "";

describe("Holds over HTTP", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;
  const cluster = heldCluster;
  const ofCluster = `/v1/clusters/${cluster}/hold`;
  const ofHost = (host: string) => `/v1/clusters/${cluster}/hosts/${host}/hold`;

  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "2", POLL_MIN_MILLISECONDS: "50" });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());
  afterEach(async () => {
    for (const { hostId } of await holds())
      expect((await service.send("DELETE", hostId === undefined ? ofCluster : ofHost(hostId))).status).to.equal(204);
    await until("nothing is held", async () => (await holds()).length === 0);
  });

  async function hold(path: string, spec: object): Promise<Hold> {
    const { status, body } = await service.send<Hold>("PUT", path, spec);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  }
  const holds = async () => (await service.get<PageOfHold>("/v1/holds")).body.elements ?? [];
  const readCluster = async () => (await service.get<Cluster>(`/v1/clusters/${cluster}`)).body;
  const begun = async () => Object.keys(await service.remediations()).length;

  it("refuses starts and commits of a held cluster with who and why, and lets drafts be created", async () => {
    const draft = await service.startUpgrade(example("cluster-draft"));
    await service.taskWhen(draft.id, "waits for its commit", ({ subTasks }) => subTasks?.[0]?.status === "SUCCESSFUL");
    const placed = await hold(ofCluster, { reason: "Storage is replaced" });
    expect(placed).to.deep.include({ clusterId: cluster, reason: "Storage is replaced" });
    const error = refusal(await service.post("/v1/upgrades", exampleNow("cluster-draft")), 403, "RESOURCE_HELD");
    expect(error.message).to.contain(`${placed.placedBy} has held cluster`).and.to.contain("Storage is replaced");
    expect(error.context?.["path"]).to.equal("resourceUpgradeSpecs[0].resourceId");
    refusal(await service.post("/v1/upgrades/preview", exampleNow("cluster-draft")), 403, "RESOURCE_HELD");
    refusal(await service.send("PATCH", `/v1/upgrades/${draft.id}`, {}), 403, "RESOURCE_HELD");
    const preview = await service.post<UpgradePreview>("/v1/upgrades/preview", example("cluster-draft"));
    expect(preview.body.warnings?.map(({ code }) => code)).to.deep.equal(["RESOURCE_HELD"]);
    const second = await service.startUpgrade(example("cluster-draft"));
    expect(second.warnings?.map(({ code }) => code)).to.deep.equal(["RESOURCE_HELD"]);
    expect((await readCluster()).hold).to.deep.equal(placed);
    await until("the hold is listed", async () => (await holds()).length === 1);
    const all = await service.get<{ elements: Cluster[] }>("/v1/clusters");
    expect(all.body.elements.filter((one) => one.hold).map(({ id }) => id)).to.deep.equal([cluster]);
    expect((await service.send("DELETE", ofCluster)).status).to.equal(204);
    expect((await service.send("PATCH", `/v1/upgrades/${draft.id}`, {})).status).to.equal(200);
    await service.taskWhen(draft.id, "has ended", ({ status }) => status === "Successful", 90);
    const { elements = [] } = (await service.get<PageOfActivity>(`/v1/upgrades/${draft.id}/activity`)).body;
    const refused = elements.filter(({ kind, errorCode }) => kind === "COMMIT" && errorCode === "RESOURCE_HELD");
    expect(refused).to.have.length(1);
  });

  it("begins no host of a cluster that is held in mid-run, also with a worker killed in between, and continues", async () => {
    const id = await upgradeInTheMiddleOfAHost(service);
    await hold(ofCluster, { reason: "Storage is replaced" });
    await service.killAndAwaitSuccessor("worker");
    await until("the upgrade waits for the end of the hold", async () => {
      const { phase, waitingFor } = (await service.get<Upgrade>(`/v1/upgrades/${id}`)).body;
      return phase === "WAITING" && waitingFor?.code === "HELD";
    });
    expect(await begun()).to.equal(1);
    await service.killAndAwaitSuccessor("worker");
    const until5s = new Date(Date.now() + 5_000).toISOString();
    await hold(ofCluster, { reason: "Nearly done", until: until5s });
    await service.taskWhen(id, "has ended", ({ status }) => status === "Successful", 90);
    expect(await begun()).to.equal(4);
    expect(Date.now()).to.be.greaterThan(Date.parse(until5s));
  });

  it("leaves a host out that is held in mid-run, with a worker killed in between, and says so everywhere", async () => {
    const id = await upgradeInTheMiddleOfAHost(service);
    const { hosts = [] } = await readCluster();
    const third = hosts[2] ?? { id: "", fqdn: "" };
    const placed = await hold(ofHost(third.fqdn), { reason: "Waiting for a mainboard" });
    expect(placed).to.deep.include({ hostId: third.id, hostName: third.fqdn });
    expect((await readCluster()).hosts?.[2]?.hold).to.deep.equal(placed);
    await service.killAndAwaitSuccessor("worker");
    const task = await service.taskWhen(id, "has ended", ({ status }) => status === "COMPLETED_WITH_WARNING", 90);
    expect(hostsOf(task).map(({ status, reasonCode }) => reasonCode ?? status)).to.deep.equal([
      ...["SUCCESSFUL", "SUCCESSFUL", "HELD", "SUCCESSFUL"],
    ]);
    expect(hostsOf(task)[2]?.description).to.contain(placed.placedBy).and.to.contain("Waiting for a mainboard");
    expect((await service.get<Upgrade>(`/v1/upgrades/${id}`)).body.hosts).to.deep.include({ leftOut: 1, done: 3 });
    expect(await begun()).to.equal(3);
  });

  it("stays held where everything dies at once", async () => {
    await hold(ofCluster, { reason: "Storage is replaced" });
    await service.stop("SIGKILL");
    await service.startAgain();
    await until("the cluster can be read", async () => (await service.get(`/v1/clusters/${cluster}`)).status === 200);
    expect((await readCluster()).hold?.reason).to.equal("Storage is replaced");
    refusal(await service.post("/v1/upgrades", exampleNow("cluster-draft")), 403, "RESOURCE_HELD");
  });

  it("refuses what it cannot hold, by its field", async () => {
    const put = (spec: object) => service.send("PUT", ofCluster, spec);
    refusal(await put({}), 400, "MISSING_FIELD");
    refusal(await put({ reason: " " }), 400, "INVALID_FIELD");
    refusal(await put({ reason: "x", until: "2020-01-01T00:00:00Z" }), 400, "SCHEDULE_IN_THE_PAST");
    refusal(await put({ reason: "x", host: "y" }), 400, "UNKNOWN_FIELD");
    refusal(await service.send("PUT", "/v1/clusters/none/hold", { reason: "x" }), 404, "CLUSTER_NOT_FOUND");
    refusal(await service.send("DELETE", "/v1/clusters/none/hold"), 404, "CLUSTER_NOT_FOUND");
    refusal(await service.send("PUT", ofHost("none"), { reason: "x" }), 404, "HOST_NOT_FOUND");
    expect((await service.send("DELETE", ofHost("none"))).status).to.equal(204);
    expect(await holds()).to.deep.equal([]);
  });

  it("is placed and released by upgradectl, audited, and measured", async () => {
    const cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: service.apiUrl, UPGRADECTL_TOKEN: "alice" };
    const { name, hosts = [] } = await readCluster();
    const [host = { id: "", fqdn: "" }] = hosts;
    const placed = await cli.run(["hold", name, "--host", host.fqdn, "--reason", "Mainboard", "--until", "06:00"]);
    expect(placed.code, placed.stderr).to.equal(0);
    expect(placed.stdout)
      .to.contain(`Host ${host.fqdn} of cluster ${name} has been held by`)
      .and.to.contain("Mainboard");
    await until("it is listed", async () => (await cli.run(["holds"])).stdout === placed.stdout);
    expect((await cli.run(["clusters", name])).stdout).to.contain(`has held host ${host.fqdn}`);
    const metrics = await (await fetch(`${service.apiUrl}/metrics`, { headers: { authorization: "Bearer x" } })).text();
    expect(metrics).to.contain("ums_holds 1");
    expect((await cli.run(["hold", name])).code).not.to.equal(0);
    expect((await cli.run(["release", name, "--host", host.fqdn])).stderr).to.contain("The host is not held.");
    await until("nothing is listed", async () => (await cli.run(["holds"])).stdout === "Nothing is held.\n");
    const lines = service.log("api") as readonly { readonly action?: string; readonly outcome?: string }[];
    expect(lines.map(({ action, outcome }) => [action, outcome])).to.deep.include.members([
      ["holdHost", "DONE"],
      ["releaseHost", "DONE"],
    ]);
  });
});

describe("Holds of others", function () {
  this.timeout(120_000);
  const users = { alice: "OPERATOR", olga: "OPERATOR", adam: "ADMIN", vera: "VIEWER" } as const;
  const config = new ConfigWithReceiver("no-secret");
  const tokens = new Map<string, string>();
  let service: ServiceUnderTest;

  before(async () => {
    const hash = await hashPassword("a password of all");
    const entries = Object.entries(users).map(([username, role]) => ({ username, role, password: hash }));
    service = await ServiceUnderTest.start({
      AUTH_MODE: "local",
      AUTH_USERS_FILE: config.write("users.yaml", JSON.stringify({ users: entries })),
      AUTH_SIGNING_KEY_FILE: config.write("signing-key.txt", randomBytes(48).toString("base64")),
    });
    for (const username of Object.keys(users)) {
      const login = { username, password: "a password of all" };
      const { body } = await service.post<{ accessToken: string }>("/v1/tokens", login);
      tokens.set(username, body.accessToken);
    }
  });
  after(async () => {
    await service.discard();
    config.discard();
  });

  it("are released and replaced by an ADMIN only", async () => {
    const path = `/v1/clusters/${heldCluster}/hold`;
    const as = async (name: keyof typeof users, method: "PUT" | "DELETE", reason?: string) => {
      service.token = tokens.get(name);
      const { status, body } = await service.send<ErrorBody | undefined>(method, path, reason && { reason });
      return [status, body?.errorCode].join(" ").trim();
    };
    expect(await as("vera", "PUT", "x")).to.equal("403 ROLE_REQUIRED");
    expect(await as("alice", "PUT", "Storage")).to.equal("200");
    expect(await as("alice", "PUT", "Storage, still")).to.equal("200");
    expect(await as("olga", "PUT", "Mine")).to.equal("403 HOLD_OF_ANOTHER");
    expect(await as("olga", "DELETE")).to.equal("403 HOLD_OF_ANOTHER");
    const { body } = await service.get<Cluster>(`/v1/clusters/${heldCluster}`);
    expect(body.hold).to.deep.include({ placedBy: "alice", reason: "Storage, still" });
    expect(await as("adam", "DELETE")).to.equal("204");
    expect(await as("olga", "PUT", "Mine")).to.equal("200");
    expect(await as("olga", "DELETE")).to.equal("204");
  });
});
