import { expect } from "chai";
import {
  bundleExample,
  clusterExample,
  pageOfClusterExample,
  previewExample,
  taskExample,
  upgradeSpecExample,
} from "../../../src/api/openapi/examples";
import type { UpgradePreview } from "../../../src/domain/plan/preview";
import { FakeApi } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

const other = { ...clusterExample, id: "c-2", name: "fra1-prod-cl02", hostCount: 12 };
const [resource] = previewExample.products[0]?.resources ?? [];
const hosts = (n: number) => Array.from({ length: n }, (_, i) => `esx-${i}`);

/** Both clusters: the first is at the target but for two hosts, the second has nine hosts to upgrade. */
const preview: UpgradePreview = {
  ...previewExample,
  products: [
    {
      product: "HOSTOS",
      resources: [resource!, { ...resource!, resourceId: other.id, name: other.name }],
    },
  ],
  waves: [
    {
      product: "HOSTOS",
      wave: 1,
      parts: [
        { resourceId: resource!.resourceId, name: resource!.name, hosts: hosts(2) },
        { resourceId: other.id, name: other.name, hosts: hosts(5) },
      ],
    },
    { product: "HOSTOS", wave: 2, parts: [{ resourceId: other.id, name: other.name, hosts: hosts(4) }] },
  ],
  warnings: [{ code: "UNKNOWN_FIELD", message: "Something has no effect." }],
};

describe("upgradectl start without a file", () => {
  let api: FakeApi;
  let cli: Upgradectl;
  beforeEach(async () => {
    api = await FakeApi.start();
    cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: api.url };
    const [cluster] = pageOfClusterExample.elements ?? [];
    api.answer("GET /v1/clusters", 200, { elements: [{ ...cluster, hostCount: 4 }, other] });
    api.answer("GET /v1/bundles", 200, { elements: [bundleExample] });
    api.answer("POST /v1/upgrades/preview", 200, preview).answer("POST /v1/upgrades", 202, taskExample);
  });
  afterEach(async () => {
    await api.stop();
    cli.discard();
  });

  const start = (...more: string[]) => cli.run(["start", "--cluster", "fra1-mgmt-cl01,c-2", "--to", "9.0.2", ...more]);

  it("upgrades the clusters to the version at once, and says before how many hosts that are", async () => {
    const { code, stdout, stderr } = await start("--yes");
    expect(code, stderr).to.equal(0);
    expect(stdout).to.equal(`${taskExample.id}\n`);
    expect(stderr)
      .to.contain("Hosts: 11 to upgrade, 5 at target.")
      .and.to.contain("2 of 4")
      .and.to.contain("9 of 12")
      .and.to.contain("Warning: Something has no effect.");
    expect(api.last.body).to.deep.equal({
      bundleId: bundleExample.id,
      resourceType: "CLUSTER",
      resourceUpgradeSpecs: [
        { resourceId: clusterExample.id, upgradeNow: true },
        { resourceId: other.id, upgradeNow: true },
      ],
    });
  });

  it("--draft, --at and --zone are what they say, and a draft asks for no yes", async () => {
    const { code, stderr } = await start("--draft", "--at", "Sat 02:00", "--zone", "Europe/Berlin");
    expect(code, stderr).to.equal(0);
    const scheduledTimestamp = "2036-01-05T01:00:00.000Z";
    expect(api.last.body).to.deep.include({
      draftMode: true,
      resourceUpgradeSpecs: [clusterExample, other].map((one) => ({ resourceId: one.id, scheduledTimestamp })),
    });
    await start("--draft");
    expect(api.last.body).to.have.deep.property("resourceUpgradeSpecs", [
      { resourceId: clusterExample.id },
      { resourceId: other.id },
    ]);
  });

  it("--reason, --change and --label go with a request, also beside a file", async () => {
    const given = ["--reason", "Security fixes", "--change", "CHG1", "--label", "team=blue", "--label", "site=fra1"];
    const changeRecord = { reason: "Security fixes", changeId: "CHG1", labels: { team: "blue", site: "fra1" } };
    await start("--yes", ...given);
    expect(api.last.body).to.deep.include(changeRecord);
    await cli.run(["start", "-f", "examples/cluster-draft.json", ...given]);
    expect(api.last.body).to.deep.include({ draftMode: true, ...changeRecord });
    const { code, stderr } = await start("--label", "team");
    expect(code).to.equal(2);
    expect(stderr).to.contain("It is a label as NAME=VALUE.");
  });

  it("--hosts-at-once, --soak-seconds and --tolerated-failures are the rollout of every cluster", async () => {
    const rollout = { hostsAtOnce: 1, soakSeconds: 600, toleratedFailures: "10%" };
    await start("--yes", "--hosts-at-once", "1", "--soak-seconds", "600", "--tolerated-failures", "10%");
    expect(api.last.body).to.have.deep.property("resourceUpgradeSpecs", [
      { resourceId: clusterExample.id, upgradeNow: true, rollout },
      { resourceId: other.id, upgradeNow: true, rollout },
    ]);
    await start("--yes", "--tolerated-failures", "2");
    expect(api.last.body).to.have.deep.nested.property("resourceUpgradeSpecs[0].rollout", { toleratedFailures: 2 });
    const { code, stderr } = await start("--soak-seconds", "10m");
    expect(code).to.equal(2);
    expect(stderr).to.contain("It is a whole number.");
  });

  it("names the option of a rollout that is refused", async () => {
    const path = "resourceUpgradeSpecs[0].rollout.soakSeconds";
    const error = { errorCode: "ROLLOUT_BEYOND_POLICY", message: "At least 60 seconds.", context: { path } };
    api.answer("POST /v1/upgrades/preview", 403, error);
    const { code, stderr } = await start("--soak-seconds", "5");
    expect(code).to.not.equal(0);
    expect(stderr).to.contain("--soak-seconds: At least 60 seconds.");
  });

  it("plan takes the same options", async () => {
    const { code, stdout } = await cli.run(["plan", "-c", "c-2", "-c", "fra1-mgmt-cl01", "--to", "9.0.2"]);
    expect(code).to.equal(0);
    expect(stdout).to.contain("Nothing was started.");
    expect(api.last.body).to.have.nested.property("resourceUpgradeSpecs[0].resourceId", other.id);
  });

  it("of two bundles of the version the one with fewer products is meant, and the other one told", async () => {
    const whole = {
      ...bundleExample,
      id: "b-2",
      description: "The whole platform",
      components: [...bundleExample.components!, { type: "NETVIRT", toVersion: "9.0.1" }],
    };
    api.answer("GET /v1/bundles", 200, { elements: [whole, bundleExample] });
    const { stderr } = await start("--yes");
    expect(api.last.body).to.have.property("bundleId", bundleExample.id);
    expect(stderr).to.contain("The whole platform").and.to.contain("--to b-2");
    await cli.run(["start", "--cluster", "c-2", "--to", "the whole platform", "--yes"]);
    expect(api.last.body).to.have.property("bundleId", "b-2");
    api.answer("GET /v1/bundles", 200, { elements: [bundleExample, { ...bundleExample, id: "b-3" }] });
    const ambiguous = await start("--yes");
    expect([ambiguous.code, ambiguous.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 2 && text.includes("b-3"),
    );
  });

  it("errors of the service name the options, not the fields", async () => {
    const problem = (path: string, message: string) => ({ message, errorCode: "X", context: { path } });
    api.answer("POST /v1/upgrades/preview", 400, {
      message: "The request has 4 problems.",
      remediationMessage: "Correct everything in nestedErrors, then send the request again.",
      nestedErrors: [
        problem("resourceUpgradeSpecs[1].resourceId", "Resource c-2 is already named by resourceUpgradeSpecs[0]."),
        problem("resourceUpgradeSpecs[0].scheduledTimestamp", "The scheduled time x has passed."),
        problem("bundleId", "Bundle b is recalled."),
        problem("resourceType", "resourceType: expected something else."),
      ],
    });
    const { code, stderr } = await start("--yes");
    expect(code).to.equal(4);
    expect(stderr)
      .to.contain("- --cluster fra1-prod-cl02: Resource c-2 is already named by --cluster fra1-mgmt-cl01. (X)")
      .and.to.contain("- --at: The scheduled time x has passed.")
      .and.to.contain("- --to 9.0.2: Bundle b is recalled.")
      .and.to.contain("- resourceType: expected something else.")
      .and.to.contain("Next: Correct --cluster and --at and --to;")
      .and.to.not.contain("nestedErrors");
  });

  it("asks for the same as an earlier upgrade, at another time", async () => {
    const [first, ...others] = upgradeSpecExample.resourceUpgradeSpecs;
    const { id } = taskExample;
    api.answer(`GET /v1/upgrades/${id}/request`, 200, { ...upgradeSpecExample, draftMode: true });
    const { code, stderr } = await cli.run(["start", "--like", id, "--at", "2036-01-01T00:00:00Z", "--yes"]);
    expect(code, stderr).to.equal(0);
    const scheduledTimestamp = "2036-01-01T00:00:00.000Z";
    const { upgradeNow: _now, ...rest } = first!;
    const { draftMode: _draft, ...same } = upgradeSpecExample;
    expect(api.last.body).to.deep.equal({
      ...same,
      resourceUpgradeSpecs: [{ ...rest, scheduledTimestamp }, ...others.map((one) => ({ ...one, scheduledTimestamp }))],
    });
    const refused = await cli.run(["plan", "--like", id, "--to", "9.0.2"]);
    expect(refused.code).to.equal(2);
  });

  it("says what is missing, and refuses options beside a file", async () => {
    for (const [args, words] of [
      [["start"], "--cluster NAME"],
      [["start", "--to", "9.0.2"], "--cluster NAME"],
      [["start", "--cluster", "c-2"], "target version is missing"],
      [["start", "-f", "x.json", "--cluster", "c-2"], "cannot be used with"],
      [["plan", "-f", "x.json", "--at", "02:00"], "cannot be used with"],
    ] as const) {
      const { code, stderr } = await cli.run(args);
      expect([args, code]).to.deep.equal([args, 2]);
      expect(stderr).to.contain(words);
    }
    expect(api.received).to.deep.equal([]);
  });
});
