import { join } from "node:path";
import { expect } from "chai";
import {
  activityExample,
  bundleExample,
  clusterExample,
  pageExample,
  pageOfBundleExample,
  pageOfClusterExample,
  precheckTaskExample,
  previewExample,
  taskExample,
  upgradeExample,
} from "../../../src/api/openapi/examples";
import type { Finding } from "../../../src/domain/spec/finding";
import type { Task } from "../../../src/domain/spec/task";
import { FakeApi } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

const example = join(__dirname, "../../../examples/cluster-draft.json");
const { id } = upgradeExample;

describe("upgradectl, its commands", () => {
  let api: FakeApi;
  let cli: Upgradectl;
  beforeEach(async () => {
    api = await FakeApi.start();
    cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: api.url, UPGRADECTL_TOKEN: "secret-token" };
  });
  afterEach(async () => {
    await api.stop();
    cli.discard();
  });

  const asked = () => api.received.map(({ method, url }) => `${method} ${url}`);

  it("start sends the file with the token and a key of its own, prints the id and says what is next", async () => {
    api.answer("POST /v1/upgrades", 202, taskExample);
    const { code, stdout, stderr } = await cli.run(["start", "-f", example, "--yes"]);
    expect(code).to.equal(0);
    expect(stdout).to.equal(`${taskExample.id}\n`);
    expect(stderr).to.contain(`upgradectl commit ${taskExample.id}`);
    expect(api.last.body).to.have.nested.property("resourceUpgradeSpecs[0].resourceId");
    expect(api.last.headers.authorization).to.equal("Bearer secret-token");
    expect(api.last.headers["idempotency-key"]).to.match(/^[0-9a-f-]{36}$/);
  });

  it("start --draft makes a draft of any request, and takes YAML from the standard input", async () => {
    api.answer("POST /v1/upgrades", 202, taskExample);
    cli.stdin = "bundleId: b\nresourceType: CLUSTER\n";
    await cli.run(["start", "-f", "-", "--draft", "--idempotency-key", "mine"]);
    expect(api.last.body).to.deep.equal({ bundleId: "b", resourceType: "CLUSTER", draftMode: true });
    expect(api.last.headers["idempotency-key"]).to.equal("mine");
  });

  it("plan prints plan and waves and asks for nothing but the preview", async () => {
    const [product] = previewExample.products;
    const [first, ...others] = product!.resources;
    const errors = [{ message: "Its manager is away." }];
    const waves = [1, 2].map((wave) => ({
      product: "HOSTOS",
      wave,
      scheduledTimestamp: "2036-12-01T09:30:00.000Z",
      parts: [{ resourceId: "c", name: "cl01", hosts: [`esx-${wave}`], ...(wave > 1 && { soakSeconds: 300 }) }],
    }));
    const resources = [{ ...first!, errors, soakSeconds: 300 }, ...others];
    const preview = { ...previewExample, products: [{ ...product, resources }], waves, expectedSeconds: 7500 };
    api.answer("POST /v1/upgrades/preview", 200, preview);
    const { code, stdout, stderr } = await cli.run(["plan", "-f", example]);
    expect(code).to.equal(0);
    expect(stdout).to.contain(previewExample.name).and.to.contain("300 s, healthy");
    expect(stdout).to.contain("Expected work, by earlier upgrades: 2 h 5 min.");
    expect(stdout).to.contain(["HOSTOS 2 from 2036-12-01 09:30Z", "  cl01 (300 s later): esx-2"].join("\n"));
    expect(stdout).to.contain("Nothing was started.");
    expect(stderr).to.contain("are unknown: Its manager is away.");
    expect(asked()).to.deep.equal(["POST /v1/upgrades/preview"]);
    expect(JSON.parse((await cli.run(["plan", "-f", example, "-o", "json"])).stdout)).to.deep.equal(preview);
  });

  it("plan tells of many waves, and of many clusters in one, only the first and the last", async () => {
    const parts = Array.from({ length: 100 }, (_, n) => ({ resourceId: `${n}`, name: `cl${n}.`, hosts: ["esx"] }));
    const waves = Array.from({ length: 64 }, (_, n) => ({ product: "HOSTOS", wave: n + 1, parts }));
    api.answer("POST /v1/upgrades/preview", 200, { ...previewExample, waves });
    const { stdout } = await cli.run(["plan", "-f", example]);
    expect(stdout).to.contain("… 24 more waves …").and.to.contain("… and 92 more").and.to.contain("cl99.: esx");
    expect(stdout).to.contain("HOSTOS 1\n").and.to.contain("HOSTOS 64\n").and.not.to.contain("HOSTOS 32\n");
  });

  it("list shows ids and names, and passes the filters on", async () => {
    api.answer("GET /v1/upgrades", 200, pageExample);
    api.answer("GET /v1/bundles", 200, { elements: [{ ...bundleExample, id: "b 1" }] });
    const { stdout } = await cli.run(["list", "--status", "INPROGRESS", "--bundle", "b 1"]);
    expect(asked()).to.deep.equal([
      "GET /v1/bundles",
      "GET /v1/upgrades?status=INPROGRESS&bundleId=b+1&pageNumber=0&pageSize=1000",
    ]);
    const [upgrade] = pageExample.elements!;
    expect(stdout)
      .to.match(/^ID +STATUS +NAME/)
      .and.to.contain(upgrade!.id)
      .and.to.contain(upgrade!.name)
      .and.to.contain(upgrade!.createdBy);
  });

  it("list --cluster has the service choose", async () => {
    api.answer("GET /v1/upgrades", 200, pageExample);
    await cli.run(["list", "--cluster", clusterExample.id]);
    expect(asked()).to.deep.equal([`GET /v1/upgrades?resourceId=${clusterExample.id}&pageNumber=0&pageSize=1000`]);
  });

  it("list reads every page, and says what the service could not read", async () => {
    const all = Array.from({ length: 1001 }, (_, n) => ({ ...upgradeExample, id: `u-${n}` }));
    api.on("GET /v1/upgrades", ({ url }, response) => {
      const page = Number(new URL(url, api.url).searchParams.get("pageNumber"));
      const elements = all.slice(page * 1000, (page + 1) * 1000);
      const pageMetadata = { pageNumber: page, pageSize: 1000, totalElements: 1002, totalPages: 2 };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ elements, pageMetadata }));
    });
    const { code, stdout, stderr } = await cli.run(["list", "-o", "json"]);
    expect(code).to.equal(0);
    expect((JSON.parse(stdout) as { elements: unknown[] }).elements).to.have.length(1001);
    expect(stderr).to.contain("1 more");
  });

  it("get shows the upgrade and its parts", async () => {
    api.answer(`GET /v1/upgrades/${id}`, 200, upgradeExample).answer(`GET /v1/tasks/${id}`, 200, taskExample);
    expect((await cli.run(["get", id])).stdout)
      .to.contain(taskExample.name)
      .and.to.contain(upgradeExample.status);
    const { stdout } = await cli.run(["get", id, "-o", "json"]);
    expect(JSON.parse(stdout)).to.deep.equal({ upgrade: upgradeExample, task: taskExample });
  });

  it("activity shows who asked what, and below it why something was refused", async () => {
    api.answer(`GET /v1/upgrades/${id}/activity`, 200, { ...activityExample, dropped: 3 });
    expect((await cli.run(["activity", id])).stdout.split("\n")).to.deep.equal([
      "TIME               WHO         WHAT                           RESULT",
      "2026-12-01 09:00Z  ada (HTTP)  Create, as a draft             accepted",
      "2026-12-01 09:00Z  -           Prechecks passed               -",
      "2026-12-01 09:05Z  bob (HTTP)  Pause                          refused",
      "  ! The upgrade is not running, so there is nothing to pause. This one is DRAFT.",
      "2026-12-01 09:30Z  ada (HTTP)  Commit, for 2026-12-05 02:00Z  accepted",
      "",
      "3 entries after the first hundred were dropped.",
      "",
    ]);
    const { stdout } = await cli.run(["activity", id, "-o", "json"]);
    expect(JSON.parse(stdout)).to.deep.equal({ ...activityExample, dropped: 3 });
  });

  it("activity says as of when it is where no worker answers", async () => {
    const asOf = "2026-12-01T10:00:00.000Z";
    api.answer(`GET /v1/upgrades/${id}/activity`, 200, { ...activityExample, asOf });
    expect((await cli.run(["activity", id])).stderr).to.contain(asOf);
  });

  for (const [args, request, body] of [
    [["commit", id, "--yes"], `PATCH /v1/upgrades/${id}`, {}],
    [
      ["commit", id, "--at", "2036-01-06T02:00:00Z", "--yes"],
      `PATCH /v1/upgrades/${id}`,
      { scheduledTimestamp: "2036-01-06T02:00:00.000Z" },
    ],
    [["reschedule", id, "--now", "--yes"], `PATCH /v1/upgrades/${id}`, { upgradeNow: true }],
    [
      ["reschedule", id, "--at", "2036-01-06T02:00:00Z"],
      `PATCH /v1/upgrades/${id}`,
      { scheduledTimestamp: "2036-01-06T02:00:00.000Z" },
    ],
    [["pause", id], `POST /v1/upgrades/${id}/pause`, undefined],
    [["resume", id], `POST /v1/upgrades/${id}/resume`, undefined],
    [["resolve", id, "--yes"], `POST /v1/upgrades/${id}/resolve`, undefined],
  ] as const) {
    it(`${args.join(" ").replace(id, "ID")} asks for it and prints the status`, async () => {
      api.answer(request, 200, upgradeExample);
      const { code, stdout } = await cli.run(args);
      expect([code, stdout]).to.deep.equal([0, `${id}  ${upgradeExample.status}\n`]);
      expect(asked()).to.deep.equal([request]);
      expect(api.last.body).to.deep.equal(body);
      expect(JSON.parse((await cli.run([...args, "-o", "json"])).stdout)).to.deep.equal(upgradeExample);
    });
  }

  for (const [name, request, answer] of [
    ["cancel", `DELETE /v1/tasks/${id}`, taskExample],
    ["retry", `PATCH /v1/tasks/${id}`, taskExample],
    ["prechecks", `POST /v1/upgrades/${id}/prechecks`, precheckTaskExample],
  ] as const) {
    it(`${name} asks for it and prints the task`, async () => {
      api.answer(request, name === "prechecks" ? 202 : 200, answer);
      const args = name === "cancel" ? [name, id, "--yes"] : [name, id];
      const { code, stdout } = await cli.run(args);
      expect([code, stdout]).to.deep.equal([0, `${answer.id}  ${answer.status}\n`]);
      expect(asked()).to.deep.equal([request]);
      expect(JSON.parse((await cli.run([...args, "-o", "json"])).stdout)).to.deep.equal(answer);
    });
  }

  describe("acknowledge", () => {
    const [resource] = taskExample.resources ?? [];
    const resourceId = resource?.resourceId ?? "";
    const finding = {
      severity: "ERROR",
      code: "HOST_NOT_CONNECTED",
      message: "Host esx-1 is away.",
      remediationMessage: "Bring it back.",
      resourceId,
      isAcknowledgeable: true,
      hostId: "host-1",
      hostName: "esx-1",
    } as const;
    const stage = {
      name: "Hosts connected",
      type: "HOSTS_CONNECTED",
      description: "",
      status: "FAILED",
      creationTimestamp: taskExample.creationTimestamp,
    } as const;
    const withFindings = (...findings: Finding[]): Task => {
      const [run, ...rest] = taskExample.subTasks ?? [];
      const subTasks = run?.subTasks?.map((part) => ({ ...part, stages: [{ ...stage, findings }] })) ?? [];
      return { ...taskExample, subTasks: [{ ...run!, subTasks }, ...rest] };
    };
    const path = `/v1/upgrades/${id}/prechecks/${id}-prechecks-1/acknowledge`;

    it("sends one finding with its reason and end, and shows what there is then", async () => {
      const by = { by: "bob", at: "2026-12-01T10:00:00Z", reason: "In repair" };
      api.answer(`GET /v1/tasks/${id}`, 200, withFindings({ ...finding, acknowledged: by }));
      api.answer(`POST ${path}`, 200, precheckTaskExample);
      const args = ["acknowledge", id, "--code", finding.code, "--host", "host-1", "--reason", "In repair"];
      const { code, stdout, stderr } = await cli.run([...args, "--until", "2099-12-01T10:00:00Z"]);
      expect([code, stdout]).to.deep.equal([0, `${precheckTaskExample.id}  ${precheckTaskExample.status}\n`]);
      const sent = api.received.find(({ method }) => method === "POST");
      expect(sent?.url).to.equal(path);
      expect(sent?.body).to.deep.equal({
        ...{ code: finding.code, resourceId, hostId: "host-1", reason: "In repair" },
        until: "2099-12-01T10:00:00.000Z",
      });
      expect(stderr).to.contain("✔ ERROR HOST_NOT_CONNECTED").and.to.contain("acknowledged by bob");
    });

    it("takes the only finding that blocks, with its host, and wants to be told which of several", async () => {
      const warning = { ...finding, severity: "WARNING", code: "HEALTH_CHECK_WARNING", hostId: "host-2" } as const;
      const by = { by: "bob", at: "2026-12-01T10:00:00Z", reason: "Ours" };
      const accepted = { ...finding, hostId: "host-3", hostName: "esx-3", acknowledged: by };
      api.answer(`GET /v1/tasks/${id}`, 200, withFindings(warning, finding, accepted));
      api.answer(`POST ${path}`, 200, precheckTaskExample);
      const sent = () => api.received.filter(({ method }) => method === "POST").map(({ body }) => body);
      for (const more of [[], ["--code", finding.code], ["--host", "esx-1"]])
        expect((await cli.run(["acknowledge", id, ...more, "--reason", "In repair"])).code, more.join(" ")).to.equal(0);
      const body = { code: finding.code, resourceId, hostId: "host-1", reason: "In repair" };
      expect(sent()).to.deep.equal([body, body, body]);
      const other = { ...finding, code: "CLUSTER_BUSY", hostId: "host-2", hostName: "esx-2" };
      api.answer(`GET /v1/tasks/${id}`, 200, withFindings(finding, other));
      const several = await cli.run(["acknowledge", id, "--reason", "In repair"]);
      expect(several.code).to.equal(2);
      expect(several.stderr).to.contain("Several findings block the upgrade.").and.to.contain("--code");
      api.answer(`GET /v1/tasks/${id}`, 200, withFindings(warning));
      expect((await cli.run(["acknowledge", id, "--reason", "In repair"])).stderr).to.contain("No such finding");
      expect(sent()).to.have.length(3);
    });

    it("wants to be told the resource where several have such a finding", async () => {
      api.answer(`GET /v1/tasks/${id}`, 200, withFindings(finding, { ...finding, resourceId: "other" }));
      const { code, stderr } = await cli.run(["acknowledge", id, "--code", finding.code, "--reason", "In repair"]);
      expect(code).not.to.equal(0);
      expect(stderr).to.contain("--resource");
      expect(api.received.map(({ method }) => method)).to.deep.equal(["GET"]);
    });

    it("get lists findings with their severity", async () => {
      const warning = { ...finding, severity: "WARNING", code: "HEALTH_CHECK_WARNING", message: "Clocks." } as const;
      const findings = { errors: 1, warnings: 1, infos: 0, acknowledged: 0 };
      api.answer(`GET /v1/tasks/${id}`, 200, withFindings(finding, warning));
      api.answer(`GET /v1/upgrades/${id}`, 200, { ...upgradeExample, findings });
      const { stdout } = await cli.run(["get", id]);
      expect(stdout).to.match(/^Findings {3}1 error, 1 warning$/m);
      expect(stdout).to.match(/^✖ ERROR HOST_NOT_CONNECTED of .*, host esx-1 \(host-1\): Host esx-1 is away\.$/m);
      expect(stdout).to.match(/^! WARNING HEALTH_CHECK_WARNING of .*: Clocks\.$/m);
    });
  });

  it("bundles and clusters list all, or show one", async () => {
    api.answer("GET /v1/bundles", 200, pageOfBundleExample).answer("GET /v1/clusters", 200, pageOfClusterExample);
    api.answer(`GET /v1/bundles/${bundleExample.id}`, 200, bundleExample);
    api.answer(`GET /v1/clusters/${clusterExample.id}`, 200, clusterExample);
    expect((await cli.run(["bundles"])).stdout)
      .to.match(/^ID +VERSION/)
      .and.to.contain(bundleExample.id);
    expect((await cli.run(["clusters"])).stdout).to.contain(pageOfClusterExample.elements![0]!.name);
    expect(JSON.parse((await cli.run(["bundles", bundleExample.id, "-o", "json"])).stdout)).to.deep.equal(
      bundleExample,
    );
    const { stdout } = await cli.run(["clusters", clusterExample.id]);
    for (const { fqdn } of clusterExample.hosts!) expect(stdout).to.contain(fqdn);
  });

  it("text of the service cannot steer the terminal", async () => {
    const bad = { ...clusterExample, name: "a\u001b]0;owned\u0007b" };
    api.answer("GET /v1/clusters", 200, { elements: [bad] });
    const { stdout } = await cli.run(["clusters"]);
    expect(stdout.replaceAll("\n", "")).to.not.match(/\p{Cc}/u);
  });
});
