import { expect } from "chai";
import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import request from "supertest";
import { createApi } from "../../../src/api/create-api";
import { freezeExample, pageOfHoldExample } from "../../../src/api/openapi/examples";
import { type RunningApi, startApi } from "../../../src/api/start-api";
import { devAuthentication } from "../../../src/authentication/dev-authentication";
import type { FreezeStatus } from "../../../src/domain/freeze";
import type { PageOfHold } from "../../../src/domain/hold";
import type { WorkflowKind } from "../../../src/domain/task/lost-upgrade";
import { createApiMetrics } from "../../../src/observability/api-metrics";
import { currentRequestId, keepRequest } from "../../../src/observability/context";
import { startMetricsServer } from "../../../src/observability/metrics-server";
import type { UpgradeCounts } from "../../../src/temporal/upgrade-counter";
import { freePorts } from "../../support/service/deployment";
import { fakeService, memoryLog } from "../api/api-under-test";

const ids = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];

describe("GET /metrics", () => {
  let counts: UpgradeCounts | undefined = { byStatus: { DRAFT: 2, INPROGRESS: 1 }, oldestDraftSeconds: 90 };
  let blocked: Readonly<Record<WorkflowKind, number>> | undefined;
  let freezes: E.Either<unknown, FreezeStatus> = E.right(freezeExample);
  let holds: E.Either<unknown, PageOfHold> = E.right(pageOfHoldExample);
  let seen: string | undefined;
  const metrics = createApiMetrics({
    upgrades: () => Promise.resolve(counts),
    blockedWorkflows: () => blocked,
    freezes: () => Promise.resolve(freezes),
    holds: () => Promise.resolve(holds),
  });
  let api: RunningApi;
  before(async () => {
    const { log } = memoryLog();
    const service = fakeService({ started: [], listed: [], read: [], asked: [] });
    const app = createApi({
      service: {
        ...service,
        getTask: (id) => {
          seen = currentRequestId();
          return service.getTask(id);
        },
        listClusters: () => TE.left({ _tag: "Unexpected", cause: new Error("no") }),
      },
      authentication: devAuthentication,
      log,
      version: "1",
      metrics,
      observers: [metrics.measureRequests, keepRequest],
    });
    api = await startApi(app, { host: "127.0.0.1", port: 0, log });
  });
  after(() => api.close());

  const scrape = async () => (await request(api.url).get("/metrics")).text;

  it("counts requests by the template of their route, whatever is in their path", async () => {
    for (const id of ids) await request(api.url).get(`/v1/tasks/${id}`);
    const text = await scrape();
    expect(text).to.contain('ums_http_requests_total{route="/v1/tasks/{id}",method="GET",status="200"} 2');
    expect(text).to.contain('ums_http_request_duration_seconds_count{route="/v1/tasks/{id}",method="GET"} 2');
    expect(text).to.contain("ums_http_requests_in_flight 1");
  });

  it("has one label for all paths and methods that there are not", async () => {
    for (const path of ["/nowhere", "/v2/upgrades", "/%00"]) await request(api.url).get(path);
    await request(api.url).propfind("/v1/upgrades");
    const text = await scrape();
    expect(text).to.match(/ums_http_requests_total\{route="none",method="GET",status="404"\} \d/);
    expect(text).to.contain('route="none",method="other"');
    expect(text).not.to.contain("nowhere");
  });

  it("counts what failed by its status", async () => {
    await request(api.url).get("/v1/clusters");
    expect(await scrape()).to.contain('ums_http_requests_total{route="/v1/clusters",method="GET",status="500"} 1');
  });

  it("tells how many freezes are in force, and nothing where that is not known", async () => {
    expect(await scrape()).to.contain("ums_freezes 1");
    freezes = E.left("away");
    expect(await scrape()).to.contain("ums_freezes Nan");
  });

  it("tells how many holds are in force, and nothing where that is not known", async () => {
    expect(await scrape()).to.contain("ums_holds 1");
    holds = E.left("away");
    expect(await scrape()).to.contain("ums_holds Nan");
  });

  it("tells the numbers of upgrades as they are, and none at all where Temporal does not tell them", async () => {
    expect(await scrape())
      .to.contain('ums_upgrades{status="DRAFT"} 2')
      .and.contain("ums_oldest_draft_age_seconds 90")
      .and.contain("ums_upgrades_known 1");
    counts = { byStatus: { DRAFT: 0, INPROGRESS: 3 }, oldestDraftSeconds: 0 };
    expect(await scrape(), "of this scrape, not of the one before")
      .to.contain('ums_upgrades{status="INPROGRESS"} 3')
      .and.contain("ums_oldest_draft_age_seconds 0");
    counts = undefined;
    const text = await scrape();
    expect(text).to.contain("ums_upgrades_known 0").and.contain("ums_oldest_draft_age_seconds Nan");
    expect(text).not.to.contain("ums_upgrades{");
  });

  it("tells how many Workflows of each kind are blocked, and nothing where that is not known", async () => {
    expect(await scrape()).not.to.contain("ums_workflows_blocked{");
    blocked = { upgrade: 0, cluster: 2, netvirt: 0, mgmt: 0, notifications: 1, readiness: 0 };
    const text = await scrape();
    expect(text).to.contain('ums_workflows_blocked{workflow="cluster"} 2');
    expect(text).to.contain('ums_workflows_blocked{workflow="upgrade"} 0');
    blocked = undefined;
    expect(await scrape()).not.to.contain("ums_workflows_blocked{");
  });

  it("lets whatever is called for a request know its id", async () => {
    await request(api.url).get(`/v1/tasks/${ids[0]}`).set("x-request-id", "mine");
    expect(seen).to.equal("mine");
    expect(currentRequestId()).to.equal(undefined);
  });

  it("is served at an address of its own too, where there is nothing else", async () => {
    const { metrics: port } = await freePorts("metrics");
    const stop = await startMetricsServer(metrics, `127.0.0.1:${port}`);
    try {
      const url = `http://127.0.0.1:${port}`;
      const answer = await request(url).get("/metrics");
      expect([answer.status, answer.headers["content-type"]]).to.deep.equal([200, metrics.contentType]);
      expect(answer.text).to.contain("ums_http_requests_total");
      expect((await request(url).get("/v1/upgrades")).status).to.equal(404);
    } finally {
      stop();
    }
  });
});
