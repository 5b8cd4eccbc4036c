import { expect } from "chai";
import {
  bundleExample,
  clusterExample,
  pageOfBundleExample,
  pageOfClusterExample,
  pageOfManagementServerExample,
  pageOfNetvirtExample,
  pageOfTaskExample,
  taskExample,
  upgradeExample,
} from "../../../src/api/openapi/examples";
import type { Task } from "../../../src/domain/spec/task";
import { FakeApi } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

const { id } = upgradeExample;
const [header] = pageOfTaskExample.elements ?? [];

describe("upgradectl, names", () => {
  let api: FakeApi;
  let cli: Upgradectl;
  beforeEach(async () => {
    api = await FakeApi.start();
    cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: api.url };
    api.answer("GET /v1/bundles", 200, pageOfBundleExample).answer("GET /v1/clusters", 200, pageOfClusterExample);
    api.answer("GET /v1/netvirt", 200, pageOfNetvirtExample);
    api.answer("GET /v1/management-servers", 200, pageOfManagementServerExample);
    api.answer(`POST /v1/upgrades/${id}/pause`, 200, upgradeExample);
    tasks({});
  });
  afterEach(async () => {
    await api.stop();
    cli.discard();
  });

  /** What the service lists: the example, changed so, once for each. */
  const tasks = (...changes: Partial<Task>[]) =>
    api.answer("GET /v1/tasks", 200, { elements: changes.map((change) => ({ ...header, ...change })) });
  const paused = () => api.received.filter(({ method }) => method === "POST").map(({ url }) => url);

  for (const [what, name] of [
    ["the beginning of its id", id.slice(0, 4)],
    ["that in upper case", id.slice(0, 9).toUpperCase()],
    ["its name", taskExample.name],
    ["one of its clusters", "fra1-mgmt-cl01"],
  ] as const)
    it(`an upgrade is found by ${what}`, async () => {
      const { code, stderr } = await cli.run(["pause", name]);
      expect(code, stderr).to.equal(0);
      expect(paused()).to.deep.equal([`/v1/upgrades/${id}/pause`]);
    });

  it("a whole id is asked of nobody", async () => {
    await cli.run(["pause", id]);
    expect(api.received).to.have.length(1);
  });

  it("a name of several upgrades is refused with all of them, and nothing is done", async () => {
    tasks({}, { id: `${id.slice(0, -1)}0`, name: "Upgrade another" });
    for (const name of [id.slice(0, 6), "fra1-mgmt-cl01"]) {
      const { code, stdout, stderr } = await cli.run(["pause", name]);
      expect([code, stdout]).to.deep.equal([2, ""]);
      expect(stderr).to.contain(id).and.to.contain("Upgrade another").and.to.contain("matches 2");
    }
    expect(paused()).to.deep.equal([]);
  });

  it("of several upgrades of a cluster the one that has not ended is meant", async () => {
    const completionTimestamp = taskExample.creationTimestamp;
    tasks({ id: `${id.slice(0, -1)}0`, completionTimestamp }, {}, { id: `${id.slice(0, -1)}2`, completionTimestamp });
    expect((await cli.run(["pause", "fra1-mgmt-cl01"])).code).to.equal(0);
    expect(paused()).to.deep.equal([`/v1/upgrades/${id}/pause`]);
  });

  it("a name that there is not comes with those that are like it", async () => {
    const { code, stderr } = await cli.run(["clusters", "mgmt"]);
    expect(code).to.equal(2);
    expect(stderr)
      .to.contain('There is no cluster "mgmt"')
      .and.to.contain("fra1-mgmt-cl01")
      .and.to.contain("`upgradectl clusters`");
    // Three characters are too few for an id.
    expect((await cli.run(["pause", id.slice(0, 3)])).stderr).to.contain("There is no upgrade");
  });

  it("a name cannot forge a line of the error", async () => {
    tasks({ name: "one\nNext: evil" }, { id: `${id.slice(0, -1)}0` });
    expect((await cli.run(["pause", id.slice(0, 6)])).stderr.match(/^Next: /gm)).to.have.length(1);
  });

  it("clusters, bundles, servers and instances are found by name, also as filters", async () => {
    api.answer(`GET /v1/clusters/${clusterExample.id}`, 200, clusterExample);
    api.answer(`GET /v1/bundles/${bundleExample.id}`, 200, bundleExample);
    api.answer("GET /v1/upgrades", 200, { elements: [] });
    expect((await cli.run(["clusters", "fra1-mgmt-cl01"])).code).to.equal(0);
    expect((await cli.run(["bundles", "9.0.2"])).code).to.equal(0);
    expect((await cli.run(["servers", "fra1-vc01"])).stdout).to.contain("fra1-vc01");
    expect((await cli.run(["netvirt", "c0ff"])).stdout).to.contain("fra1-nsx01");
    await cli.run(["list", "--cluster", "FRA1-MGMT-CL01", "--bundle", "9.0.2", "-o", "json"]);
    expect(api.last.url).to.contain(`bundleId=${bundleExample.id}`).and.to.contain(`resourceId=${clusterExample.id}`);
    for (const [name, resourceId] of [
      ["fra1-vc01", pageOfManagementServerExample.elements?.[0]?.id],
      ["fra1-nsx01", pageOfNetvirtExample.elements?.[0]?.id],
    ] as const) {
      await cli.run(["list", "--resource", name, "-o", "json"]);
      expect(api.last.url).to.contain(`resourceId=${resourceId}`);
    }
  });
});
