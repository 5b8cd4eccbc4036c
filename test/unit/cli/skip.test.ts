import { expect } from "chai";
import { pageOfClusterExample, taskExample, upgradeExample } from "../../../src/api/openapi/examples";
import { FakeApi } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

const { id } = upgradeExample;
const [cluster] = pageOfClusterExample.elements ?? [];
const { id: clusterId = "", name = "" } = cluster ?? {};

describe("upgradectl skip and retry of a part", () => {
  let api: FakeApi;
  let cli: Upgradectl;
  beforeEach(async () => {
    api = await FakeApi.start();
    cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: api.url };
    api.answer("GET /v1/clusters", 200, pageOfClusterExample).answer(`GET /v1/tasks/${id}`, 200, taskExample);
    api.answer("GET /v1/management-servers", 200, { elements: [] }).answer("GET /v1/netvirt", 200, { elements: [] });
    api.answer(`POST /v1/upgrades/${id}/skip`, 200, upgradeExample);
    api.answer(`POST /v1/upgrades/${id}/retry`, 200, upgradeExample);
    api.answer(`PATCH /v1/tasks/${id}`, 200, taskExample);
  });
  afterEach(async () => {
    await api.stop();
    cli.discard();
  });

  const sent = () =>
    api.received.filter(({ method }) => method !== "GET").map(({ method, url, body }) => [`${method} ${url}`, body]);

  it("leaves a cluster out by its name, or one host of it, with the reason", async () => {
    expect((await cli.run(["skip", id, "--cluster", name, "--reason", "Not tonight", "--yes"])).code).to.equal(0);
    const host = ["--host", "esx-07.example.com"];
    expect((await cli.run(["skip", id, "--cluster", clusterId, ...host, "--reason", "Dead", "-y"])).code).to.equal(0);
    expect(sent()).to.deep.equal([
      [`POST /v1/upgrades/${id}/skip`, { resourceId: clusterId, reason: "Not tonight" }],
      [`POST /v1/upgrades/${id}/skip`, { resourceId: clusterId, hostId: "esx-07.example.com", reason: "Dead" }],
    ]);
  });

  it("needs a reason, a cluster and a yes", async () => {
    for (const args of [
      ["--cluster", name, "--yes"],
      ["--reason", "Dead", "--yes"],
      ["--cluster", name, "--reason", "x"],
    ])
      expect((await cli.run(["skip", id, ...args])).code, args.join(" ")).to.equal(2);
    expect(sent()).to.deep.equal([]);
  });

  it("says by the option what the service does not take", async () => {
    const error = { errorCode: "HOST_UNKNOWN", message: "The upgrade has no host x.", context: { path: "hostId" } };
    api.answer(`POST /v1/upgrades/${id}/skip`, 400, error);
    const { code, stderr } = await cli.run(["skip", id, "--cluster", name, "--host", "x", "--reason", "Dead", "--yes"]);
    expect(code).to.equal(4);
    expect(stderr).to.contain("--host");
  });

  it("retries everything, the named clusters alone, or not some of it", async () => {
    expect((await cli.run(["retry", id])).code).to.equal(0);
    expect((await cli.run(["retry", id, "--only", name])).code).to.equal(0);
    const without = ["--skip", name, "--skip-host", "esx-1,esx-2", "--reason", "Dead"];
    expect((await cli.run(["retry", id, ...without])).code).to.equal(0);
    expect(sent()).to.deep.equal([
      [`PATCH /v1/tasks/${id}`, undefined],
      [`POST /v1/upgrades/${id}/retry`, { resourceIds: [clusterId] }],
      [`POST /v1/upgrades/${id}/retry`, { skipResources: [clusterId], skipHosts: ["esx-1", "esx-2"], reason: "Dead" }],
    ]);
  });
});
