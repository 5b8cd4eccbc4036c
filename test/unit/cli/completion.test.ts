import { mock } from "node:test";
import { expect } from "chai";
import { pageOfBundleExample, pageOfClusterExample, upgradeExample } from "../../../src/api/openapi/examples";
import { FakeApi } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

const [bundle] = pageOfBundleExample.elements ?? [];
const [cluster] = pageOfClusterExample.elements ?? [];

describe("upgradectl, its completion", () => {
  let api: FakeApi;
  let cli: Upgradectl;
  beforeEach(async () => {
    api = await FakeApi.start();
    cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: api.url, UPGRADECTL_TOKEN: "secret-token" };
    api.answer("GET /v1/bundles", 200, pageOfBundleExample);
    api.answer("GET /v1/clusters", 200, pageOfClusterExample);
    api.answer("GET /v1/upgrades", 200, { elements: [upgradeExample] });
  });
  afterEach(async () => {
    await api.stop();
    cli.discard();
  });

  /** What the library says to the shell, which it does past the surroundings. */
  async function offered(...words: string[]): Promise<string> {
    const log = mock.method(console, "log", () => undefined);
    try {
      expect((await cli.run(["complete", "--", ...words])).stderr).to.equal("");
      return log.mock.calls.map((call) => String((call.arguments as unknown[])[0])).join("\n");
    } finally {
      log.mock.restore();
    }
  }
  const asked = () => api.received.map(({ url }) => url);

  it("offers the upgrades that a command can be used with", async () => {
    expect(await offered("retry", "")).to.contain(`${upgradeExample.id}\t`);
    expect(await offered("watch", "-o", "json", upgradeExample.id.slice(0, 3))).to.contain(upgradeExample.id);
    expect(asked()[0]).to.contain("status=COMPLETED_WITH_FAILURE");
    expect(asked()[1]).not.to.contain("status=");
  });

  it("offers to commit drafts, and what waits for a commit because it missed its time", async () => {
    const late = { code: "COMMIT", message: "Its time has passed." };
    api.answer("GET /v1/upgrades", 200, {
      elements: [
        { ...upgradeExample, id: "draft-1", status: "DRAFT" },
        { ...upgradeExample, id: "late-1", status: "SCHEDULED", waitingFor: late },
        { ...upgradeExample, id: "later-1", status: "SCHEDULED" },
      ],
    });
    const offers = await offered("commit", "--watch", "");
    expect(offers).to.contain("draft-1").and.to.contain("late-1").and.not.to.contain("later-1");
  });

  it("offers names of clusters and versions of bundles, also to options, and ids that are begun", async () => {
    for (const words of [["bundles"], ["list", "--bundle"], ["start", "--to"]]) {
      expect(await offered(...words, ""), words.join(" ")).to.contain(`${bundle?.version}\t`);
      expect(await offered(...words, bundle?.id.slice(0, 3) ?? "")).to.contain(`${bundle?.id}\t`);
    }
    for (const words of [["clusters"], ["list", "--cluster"], ["plan", "-c"], ["list", "--resource"]]) {
      api.answer("GET /v1/management-servers", 200, { elements: [] }).answer("GET /v1/netvirt", 200, { elements: [] });
      expect(await offered(...words, ""), words.join(" ")).to.contain(`${cluster?.name}\t`);
      expect(await offered(...words, cluster?.id.slice(0, 3) ?? "")).to.contain(`${cluster?.id}\t`);
    }
  });

  it("offers the next one of several clusters, and ids where a version is that of two bundles", async () => {
    expect(await offered("start", "--cluster", "other,")).to.contain(`other,${cluster?.name}\t`);
    api.answer("GET /v1/bundles", 200, { elements: [bundle, { ...bundle, id: "b-2" }] });
    expect(await offered("start", "--to", ""))
      .to.contain("b-2\t")
      .and.to.contain(`${bundle?.id}\t`);
  });

  it("offers contexts and time zones without the service", async () => {
    await cli.run(["context", "prod", "--server", api.url]);
    expect(await offered("list", "--context", "")).to.contain(`prod\t${api.url}`);
    expect(await offered("context", "p")).to.contain("prod\t");
    expect(await offered("start", "--zone", "Europe/Ber")).to.contain("Europe/Berlin");
    expect(asked()).to.deep.equal([]);
  });

  it("asks nothing of the service where no id is wanted", async () => {
    await offered("");
    await offered("list", "--status", "");
    await offered("commit", upgradeExample.id, "--");
    expect(asked()).to.deep.equal([]);
  });

  it("offers what else there is where the service does not answer", async () => {
    cli.env = { UPGRADECTL_SERVER: "http://127.0.0.1:9" };
    expect(await offered("commit", "")).not.to.contain(upgradeExample.id);
    expect(await offered("list", "--st")).to.contain("--status");
  });
});
