import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import request from "supertest";
import { pageExample, taskExample, upgradeExample } from "../../../src/api/openapi/examples";
import {
  failedDependency,
  notFound,
  temporalNotSetUp,
  temporalUnreachable,
  unexpected,
} from "../../../src/upgrades/service-error";
import { type ApiUnderTest, expectError, startApiUnderTest } from "./api-under-test";

const unknownId = "00000000-0000-4000-8000-000000000000";

describe("GET /v1/upgrades", () => {
  let api: ApiUnderTest;
  before(async () => (api = await startApiUnderTest()));
  beforeEach(() => (api.calls.listed.length = 0));
  after(() => api.close());

  const get = (query: string) => request(api.url).get(`/v1/upgrades${query}`);

  it("answers the page without credentials", async () => {
    const answer = await get("");
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal(pageExample);
    expect(api.calls.listed).to.deep.equal([{ filter: {}, page: undefined }]);
  });

  it("passes every filter on", async () => {
    await get("?status=COMPLETED_WITH_SUCCESS&bundleId=a%20b&bundleType=HCI&resourceId=c1");
    expect(api.calls.listed).to.deep.equal([
      {
        filter: { status: ["COMPLETED_WITH_SUCCESS"], bundleId: "a b", bundleType: "HCI", resourceId: "c1" },
        page: undefined,
      },
    ]);
  });

  it("takes several statuses and phases, repeated or with commas, a search and a sort", async () => {
    await get("?status=DRAFT,PAUSED&status=DRAFT&phase=RUNNING&phase=PAUSED,&search=fra1%20jane&sort=begins");
    const filter = { status: ["DRAFT", "PAUSED"], phase: ["RUNNING", "PAUSED"], search: "fra1 jane", sort: "begins" };
    expect(api.calls.listed).to.deep.equal([{ filter, page: undefined }]);
  });

  it("gives nothing to a reader who has the same list already", async () => {
    const first = await get("");
    const tag = String(first.headers["etag"]);
    const ifNoneMatch = (value: string) => request(api.url).get("/v1/upgrades").set("if-none-match", value);
    for (const held of [tag, `"other", ${tag}`, tag.replace("W/", ""), "*"]) {
      const { status, text, headers } = await ifNoneMatch(held);
      expect([status, text, headers["etag"]], held).to.deep.equal([304, "", tag]);
    }
    for (const other of ['W/"other"', "", tag.slice(0, -2)])
      expect((await ifNoneMatch(other)).status, other).to.equal(200);
  });

  it("asks for a page when one of its parameters is there", async () => {
    await get("?pageNumber=3");
    await get("?pageSize=1000");
    await get("?pageNumber=0&pageSize=1");
    expect(api.calls.listed.map(({ page }) => page)).to.deep.equal([
      { pageNumber: 3, pageSize: 100 },
      { pageNumber: 0, pageSize: 1000 },
      { pageNumber: 0, pageSize: 1 },
    ]);
  });

  it("ignores unknown parameters", async () => {
    expect((await get("?orderBy=x&orderBy=y&toString=1&__proto__=2")).status).to.equal(200);
    expect(api.calls.listed).to.deep.equal([{ filter: {}, page: undefined }]);
  });

  it("takes an empty parameter for an absent one", async () => {
    expect((await get("?status=&bundleId=&bundleId=b&pageNumber=&resourceId")).status).to.equal(200);
    expect(api.calls.listed).to.deep.equal([{ filter: { bundleId: "b" }, page: undefined }]);
  });

  it("compares UUIDs without regard to case", async () => {
    await get("?bundleId=6F1F2A58-7F0A-4B7E-9D53-2C1F6A0C8E11&resourceId=Not-A-UUID");
    const filter = { bundleId: "6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11", resourceId: "Not-A-UUID" };
    expect(api.calls.listed[0]?.filter).to.deep.equal(filter);
    await request(api.url).get("/v1/tasks/6F1F2A58-7F0A-4B7E-9D53-2C1F6A0C8E11");
    expect(api.calls.read.at(-1)).to.equal("6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11");
  });

  const wrong: [string, string][] = [
    ["Status=DRAFT", "Status"],
    ["bundleid=a", "bundleid"],
    ["bundle_id=a", "bundle_id"],
    ["PAGESIZE=1", "PAGESIZE"],
    ["resource-id=", "resource-id"],
    ["status=Pending", "status"],
    ["status=DRAFT&status=x", "status"],
    ["phase=RUNNING,x", "phase"],
    ["sort=x", "sort"],
    ["sort=name&sort=name", "sort"],
    [`search=${"x".repeat(101)}`, "search"],
    ["status=toString", "status"],
    [`bundleId=${"x".repeat(256)}`, "bundleId"],
    ["bundleId=%00", "bundleId"],
    ["bundleId=a&bundleId=b", "bundleId"],
    ["bundleType=HOSTOS", "bundleType"],
    ["pageNumber=-1", "pageNumber"],
    ["pageNumber=1e2", "pageNumber"],
    ["pageNumber=99999999999999999999", "pageNumber"],
    ["pageSize=0", "pageSize"],
    ["pageSize=1001", "pageSize"],
    ["pageSize=1.5", "pageSize"],
    ["pageSize=%2010", "pageSize"],
  ];
  for (const [query, name] of wrong) {
    it(`refuses ?${query.slice(0, 40)} and names ${name}`, async () => {
      const body = expectError(await get(`?${query}`), 400, "INVALID_PARAMETER");
      expect(body.context).to.deep.equal({ path: name });
      expect(body.message).to.contain(name);
      expect(api.calls.listed).to.deep.equal([]);
    });
  }

  it("names the value that is wrong among several", async () => {
    const { message } = expectError(await get("?phase=RUNNING&phase=PAUSED,Running"), 400, "INVALID_PARAMETER");
    expect(message).to.contain('but is "Running"').and.to.contain("ACTION_REQUIRED");
  });

  it("lists the statuses that there are", async () => {
    const { message } = expectError(await get("?status=x"), 400, "INVALID_PARAMETER");
    expect(message).to.contain(
      "PENDING, DRAFT, SCHEDULED, INPROGRESS, PAUSED, COMPLETED_WITH_SUCCESS, COMPLETED_WITH_FAILURE, CANCELLED",
    );
  });

  it("reports all wrong parameters at once", async () => {
    const { nestedErrors } = expectError(await get("?status=x&bundleType=y&pageSize=z"), 400, "INVALID_REQUEST");
    expect(nestedErrors?.map(({ context }) => context?.["path"])).to.deep.equal(["status", "bundleType", "pageSize"]);
  });
});

describe("GET /v1/upgrades/{id} and /v1/tasks/{id}", () => {
  it("answer the upgrade and the task", async () => {
    const api = await startApiUnderTest();
    expect((await request(api.url).get(`/v1/upgrades/${upgradeExample.id}`)).body).to.deep.equal(upgradeExample);
    expect((await request(api.url).get(`/v1/tasks/${taskExample.id}/`)).body).to.deep.equal(taskExample);
    expect(api.calls.read).to.deep.equal([upgradeExample.id, taskExample.id]);
    await api.close();
  });

  it("answer 404 to an id that nothing has, without a use case where it cannot be one", async () => {
    const api = await startApiUnderTest({
      service: {
        getUpgrade: (id) => TE.left(notFound("upgrade", id)),
        getTask: (id) => TE.left(notFound("task", id)),
      },
    });
    expectError(await request(api.url).get(`/v1/upgrades/${unknownId}`), 404, "UPGRADE_NOT_FOUND");
    expectError(await request(api.url).get(`/v1/tasks/${unknownId}`), 404, "TASK_NOT_FOUND");
    await api.close();
    const never = await startApiUnderTest();
    for (const id of ["1", "cluster%2Fc1", "%22%20OR%201=1", "%F0%9F%98%80", "x".repeat(5000)]) {
      const { message } = expectError(await request(never.url).get(`/v1/upgrades/${id}`), 404, "UPGRADE_NOT_FOUND");
      expect(message.length).to.be.below(500);
      expectError(await request(never.url).get(`/v1/tasks/${id}`), 404, "TASK_NOT_FOUND");
    }
    expect(never.calls.read).to.deep.equal([]);
    await never.close();
  });

  it("answer 500 TEMPORAL_UNREACHABLE where Temporal is lost", async () => {
    const lost = () => TE.left(temporalUnreachable(new Error("no connection to 10.0.0.1")));
    const api = await startApiUnderTest({ service: { getUpgrade: lost, getTask: lost, listUpgrades: lost } });
    for (const path of ["/v1/upgrades", `/v1/upgrades/${unknownId}`, `/v1/tasks/${unknownId}`]) {
      const answer = await request(api.url).get(path);
      expectError(answer, 500, "TEMPORAL_UNREACHABLE");
      expect(answer.text).to.not.contain("10.0.0.1");
    }
    await api.close();
  });
});

describe("GET /health", () => {
  it("is up", async () => {
    const api = await startApiUnderTest();
    for (const path of ["/health/live", "/health/ready"]) {
      const answer = await request(api.url).get(path);
      expect([answer.status, answer.body]).to.deep.equal([200, { status: "UP" }]);
    }
    await api.close();
  });

  for (const [error, code] of [
    [temporalUnreachable(new Error("down")), "TEMPORAL_UNREACHABLE"],
    [temporalNotSetUp("namespace default is missing"), "TEMPORAL_NOT_SET_UP"],
    [unexpected(new Error("down")), "INTERNAL_ERROR"],
    [failedDependency({ code: "X", message: "No.", remediation: "Wait." }), "X"],
  ] as const) {
    it(`is live but answers 503 ${code} when not ready`, async () => {
      const api = await startApiUnderTest({ service: { checkReady: () => TE.left(error) } });
      expect((await request(api.url).get("/health/live")).status).to.equal(200);
      expectError(await request(api.url).get("/health/ready"), 503, code);
      await api.close();
    });
  }
});
