import { expect } from "chai";
import {
  bundleExample,
  pageOfClusterExample,
  pageOfReadinessExample,
  pageOfScheduleExample,
  readinessExample,
} from "../../../src/api/openapi/examples";
import type { Task } from "../../../src/domain/spec/task";
import { FakeApi } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

const { id } = readinessExample;
const [cluster] = pageOfClusterExample.elements ?? [];
const { id: clusterId = "", name = "" } = cluster ?? {};
const { id: bundleId, version = "" } = bundleExample;

describe("upgradectl check and checks", () => {
  let api: FakeApi;
  let cli: Upgradectl;
  beforeEach(async () => {
    api = await FakeApi.start();
    cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: api.url };
    api
      .answer("GET /v1/clusters", 200, pageOfClusterExample)
      .answer("GET /v1/bundles", 200, { elements: [bundleExample] });
    api.answer("POST /v1/prechecks", 202, readinessExample).answer(`DELETE /v1/tasks/${id}`, 200, readinessExample);
    api.answer("GET /v1/prechecks", 200, pageOfReadinessExample);
    api.answer("GET /v1/prechecks/schedules", 200, pageOfScheduleExample);
    api.answer(`DELETE /v1/prechecks/schedules/${id}`, 204, undefined);
  });
  afterEach(async () => {
    await api.stop();
    cli.discard();
  });

  const sent = () =>
    api.received.filter(({ method }) => method !== "GET").map(({ method, url, body }) => [`${method} ${url}`, body]);

  it("asks for a check of clusters by their names, once or by a schedule in the zone of the command line", async () => {
    const once = await cli.run(["check", "--cluster", name, "--to", version]);
    expect(once.code, once.stderr).to.equal(0);
    expect(once.stdout).to.equal(`${id}\n`);
    const nightly = ["--schedule", "0 2 * * *", "--zone", "Europe/Berlin"];
    const repeated = await cli.run(["check", "-c", name, "--to", version, ...nightly]);
    expect(repeated.stderr).to.contain(`\`upgradectl checks ${id} --delete\` ends it.`);
    const body = { bundleId, resourceIds: [clusterId] };
    expect(sent()).to.deep.equal([
      ["POST /v1/prechecks", body],
      ["POST /v1/prechecks", { ...body, schedule: { cron: "0 2 * * *", timeZone: "Europe/Berlin" } }],
    ]);
  });

  it("needs clusters and a version, and names the option that the service refuses", async () => {
    expect((await cli.run(["check", "--to", version])).code).to.equal(2);
    expect((await cli.run(["check", "--cluster", name])).code).to.equal(2);
    expect(sent()).to.deep.equal([]);
    const error = { errorCode: "INVALID_FIELD", message: "No cron expression.", context: { path: "schedule.cron" } };
    api.answer("POST /v1/prechecks", 400, error);
    const refused = await cli.run(["check", "--cluster", name, "--to", version, "--schedule", "daily"]);
    expect(refused.code).to.equal(4);
    expect(refused.stderr).to.contain("--schedule");
  });

  it("lists checks and schedules, shows what one has found, cancels it and deletes its schedule", async () => {
    const listed = await cli.run(["checks", "--zone", "UTC"]);
    expect(listed.stdout)
      .to.contain(`${id}  Pending`)
      .and.to.contain(`Schedule ${id}  0 2 * * * in Europe/Berlin, next `);
    api.answer(`GET /v1/tasks/${id}`, 200, failed);
    const shown = await cli.run(["checks", id]);
    expect(shown.code).to.equal(1);
    expect(shown.stdout).to.contain("ERROR HOST_NOT_CONNECTED of").and.to.contain("esx-1 is away");
    expect((await cli.run(["checks", id, "--cancel"])).code).to.equal(0);
    expect((await cli.run(["checks", id, "--delete"])).stderr).to.contain("The schedule is deleted.");
    expect(sent().map(([request]) => request)).to.deep.equal([
      `DELETE /v1/tasks/${id}`,
      `DELETE /v1/prechecks/schedules/${id}`,
    ]);
    expect((await cli.run(["checks", "--delete"])).code).to.equal(2);
  });
});

const failed: Task = {
  ...readinessExample,
  status: "Failed",
  subTasks: (readinessExample.subTasks ?? []).map((part) => ({
    ...part,
    status: "FAILED",
    stages: [
      {
        name: "Hosts connected",
        type: "HOSTS_CONNECTED",
        description: "All hosts are connected.",
        status: "FAILED",
        creationTimestamp: part.creationTimestamp,
        findings: [
          {
            severity: "ERROR",
            code: "HOST_NOT_CONNECTED",
            message: "esx-1 is away",
            remediationMessage: "Connect it",
            resourceId: part.resources?.[0]?.resourceId ?? "",
            isAcknowledgeable: true,
          },
        ],
      },
    ],
  })),
};
