import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import request from "supertest";
import { allRoutes } from "../../../src/api/create-api";
import {
  acknowledgementExample,
  activityExample,
  bundleExample,
  cancelledTaskExample,
  clusterExample,
  countsExample,
  clusterHoldExample,
  freezeExample,
  freezeSpecExample,
  holdSpecExample,
  pageOfHoldExample,
  pageOfBundleExample,
  pageOfClusterExample,
  pageOfIsoExample,
  pageOfManagementServerExample,
  pageOfNetvirtExample,
  pageOfPersonalityExample,
  pageOfReadinessExample,
  pageOfScheduleExample,
  pageOfTaskExample,
  precheckTaskExample,
  previewExample,
  readinessExample,
  readinessSpecExample,
  retriedTaskExample,
  upgradeExample,
  upgradeSpecExample,
} from "../../../src/api/openapi/examples";
import type { Route } from "../../../src/api/route";
import { devAuthentication } from "../../../src/authentication/dev-authentication";
import {
  badRequest,
  conflict,
  failedDependency,
  type NamedResource,
  notAllowed,
  notFound,
  type ServiceError,
  temporalUnreachable,
  unexpected,
} from "../../../src/upgrades/service-error";
import type { UpgradeService } from "../../../src/upgrades/upgrade-service";
import { type ApiUnderTest, expectError, fakeService, sendRaw, startApiUnderTest } from "./api-under-test";

const id = upgradeExample.id;
const precheckId = `${id}-prechecks-1`;

interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: object;
  readonly status: number;
  readonly answer: object;
  readonly asked: unknown[];
  /** What is not there where the path names nothing. */
  readonly names?: NamedResource;
}

/** Every route beside those of the specification, as a client calls it and as a use case sees it. */
const calls: Record<string, Call> = {
  previewUpgrade: {
    method: "POST",
    path: "/v1/upgrades/preview",
    body: upgradeSpecExample,
    status: 200,
    answer: previewExample,
    asked: ["previewUpgrade", upgradeSpecExample, []],
  },
  updateUpgrade: {
    method: "PATCH",
    path: `/v1/upgrades/${id}`,
    body: { scheduledTimestamp: "2036-12-01T10:30:00+01:00" },
    status: 200,
    answer: upgradeExample,
    asked: ["updateUpgrade", id, { scheduledTimestamp: "2036-12-01T09:30:00.000Z" }, "dev"],
    names: "upgrade",
  },
  ...Object.fromEntries(
    ["pause", "resume", "resolve"].map((name): [string, Call] => [
      `${name}Upgrade`,
      {
        method: "POST",
        path: `/v1/upgrades/${id}/${name}`,
        status: 200,
        answer: upgradeExample,
        asked: ["controlUpgrade", id, name, "dev"],
        names: "upgrade",
      },
    ]),
  ),
  approveUpgrade: {
    method: "POST",
    path: `/v1/upgrades/${id}/approve`,
    body: { comment: "Agreed." },
    status: 200,
    answer: upgradeExample,
    asked: ["decideApproval", id, { name: "approve", comment: "Agreed." }, "dev"],
    names: "upgrade",
  },
  rejectUpgrade: {
    method: "POST",
    path: `/v1/upgrades/${id}/reject`,
    body: { comment: "Not this week." },
    status: 200,
    answer: upgradeExample,
    asked: ["decideApproval", id, { name: "reject", comment: "Not this week." }, "dev"],
    names: "upgrade",
  },
  skipPart: {
    method: "POST",
    path: `/v1/upgrades/${id}/skip`,
    body: { resourceId: "cl-1", hostId: "host-16", reason: "In repair." },
    status: 200,
    answer: upgradeExample,
    asked: ["skipPart", id, { resourceId: "cl-1", hostId: "host-16", reason: "In repair." }, "dev"],
    names: "upgrade",
  },
  retryParts: {
    method: "POST",
    path: `/v1/upgrades/${id}/retry`,
    body: { resourceIds: ["cl-1"], skipHosts: ["host-16"] },
    status: 200,
    answer: upgradeExample,
    asked: ["retryParts", id, { resourceIds: ["cl-1"], skipHosts: ["host-16"] }, "dev"],
    names: "upgrade",
  },
  runPrechecks: {
    method: "POST",
    path: `/v1/upgrades/${id}/prechecks`,
    status: 202,
    answer: precheckTaskExample,
    asked: ["runPrechecks", id, "dev"],
    names: "upgrade",
  },
  acknowledgeFinding: {
    method: "POST",
    path: `/v1/upgrades/${id}/prechecks/${precheckId}/acknowledge`,
    status: 200,
    body: acknowledgementExample,
    answer: precheckTaskExample,
    asked: ["acknowledgeFinding", id, precheckId, acknowledgementExample, "dev"],
    names: "precheck",
  },
  readPrechecks: {
    method: "GET",
    path: `/v1/upgrades/${id}/prechecks/${precheckId}`,
    status: 200,
    answer: precheckTaskExample,
    asked: ["readPrechecks", id, precheckId],
    names: "precheck",
  },
  readUpgradeRequest: {
    method: "GET",
    path: `/v1/upgrades/${id}/request`,
    status: 200,
    answer: upgradeSpecExample,
    asked: ["readRequest", id],
    names: "upgrade",
  },
  readUpgradePlan: {
    method: "GET",
    path: `/v1/upgrades/${id}/plan`,
    status: 200,
    answer: previewExample,
    asked: ["readPlan", id],
    names: "upgrade",
  },
  readActivity: {
    method: "GET",
    path: `/v1/upgrades/${id}/activity?pageNumber=1&pageSize=20`,
    status: 200,
    answer: activityExample,
    asked: ["readActivity", id, { pageNumber: 1, pageSize: 20 }],
    names: "upgrade",
  },
  readFreeze: {
    method: "GET",
    path: "/v1/freeze",
    status: 200,
    answer: freezeExample,
    asked: ["readFreeze"],
  },
  putFreeze: {
    method: "PUT",
    path: "/v1/freeze",
    body: freezeSpecExample,
    status: 200,
    answer: freezeExample,
    asked: ["putFreeze", freezeSpecExample, "dev"],
  },
  liftFreeze: {
    method: "DELETE",
    path: "/v1/freeze?domain=fra1",
    status: 200,
    answer: freezeExample,
    asked: ["liftFreeze", "fra1", "dev"],
  },
  holdCluster: {
    method: "PUT",
    path: "/v1/clusters/c1/hold",
    body: holdSpecExample,
    status: 200,
    answer: clusterHoldExample,
    asked: ["putHold", { clusterId: "c1" }, holdSpecExample, { caller: "dev", isAdmin: true }],
    names: "cluster",
  },
  releaseCluster: {
    method: "DELETE",
    path: "/v1/clusters/c1/hold",
    status: 204,
    answer: {},
    asked: ["releaseHold", { clusterId: "c1" }, { caller: "dev", isAdmin: true }],
    names: "cluster",
  },
  holdHost: {
    method: "PUT",
    path: "/v1/clusters/c1/hosts/esx-1/hold",
    body: holdSpecExample,
    status: 200,
    answer: clusterHoldExample,
    asked: ["putHold", { clusterId: "c1", hostId: "esx-1" }, holdSpecExample, { caller: "dev", isAdmin: true }],
    names: "host",
  },
  releaseHost: {
    method: "DELETE",
    path: "/v1/clusters/c1/hosts/esx-1/hold",
    status: 204,
    answer: {},
    asked: ["releaseHold", { clusterId: "c1", hostId: "esx-1" }, { caller: "dev", isAdmin: true }],
    names: "cluster",
  },
  listHolds: {
    method: "GET",
    path: "/v1/holds?pageSize=5",
    status: 200,
    answer: pageOfHoldExample,
    asked: ["listHolds", { pageNumber: 0, pageSize: 5 }],
  },
  startReadiness: {
    method: "POST",
    path: "/v1/prechecks",
    body: readinessSpecExample,
    status: 202,
    answer: readinessExample,
    asked: ["startReadiness", { spec: readinessSpecExample, caller: "dev" }],
  },
  listReadiness: {
    method: "GET",
    path: "/v1/prechecks?pageSize=5",
    status: 200,
    answer: pageOfReadinessExample,
    asked: ["listReadiness", { pageNumber: 0, pageSize: 5 }],
  },
  listReadinessSchedules: {
    method: "GET",
    path: "/v1/prechecks/schedules?pageSize=5",
    status: 200,
    answer: pageOfScheduleExample,
    asked: ["listReadinessSchedules", { pageNumber: 0, pageSize: 5 }],
  },
  deleteReadinessSchedule: {
    method: "DELETE",
    path: `/v1/prechecks/schedules/${readinessExample.id}`,
    status: 204,
    answer: {},
    asked: ["deleteReadinessSchedule", readinessExample.id],
    names: "schedule",
  },
  listTasks: {
    method: "GET",
    path: "/v1/tasks?taskStatus=IN_PROGRESS&resourceId=c1&pageNumber=2",
    status: 200,
    answer: pageOfTaskExample,
    asked: ["listTasks", { taskStatus: "IN_PROGRESS", resourceId: "c1" }, { pageNumber: 2, pageSize: 100 }],
  },
  retryTask: {
    method: "PATCH",
    path: `/v1/tasks/${id}`,
    status: 200,
    answer: retriedTaskExample,
    asked: ["retryTask", id, "dev"],
    names: "task",
  },
  cancelTask: {
    method: "DELETE",
    path: `/v1/tasks/${id}`,
    status: 200,
    answer: cancelledTaskExample,
    asked: ["cancelTask", id, "dev"],
    names: "task",
  },
  countUpgrades: {
    method: "GET",
    path: "/v1/upgrades/counts?search=jane",
    status: 200,
    answer: countsExample,
    asked: ["countUpgrades", { search: "jane" }],
  },
  listNetvirt: {
    method: "GET",
    path: "/v1/netvirt?pageSize=5",
    status: 200,
    answer: pageOfNetvirtExample,
    asked: ["listNetvirt", { pageNumber: 0, pageSize: 5 }],
  },
  listManagementServers: {
    method: "GET",
    path: "/v1/management-servers?pageSize=5",
    status: 200,
    answer: pageOfManagementServerExample,
    asked: ["listManagementServers", { pageNumber: 0, pageSize: 5 }],
  },
  listPersonalities: {
    method: "GET",
    path: "/v1/personalities?pageSize=5",
    status: 200,
    answer: pageOfPersonalityExample,
    asked: ["listPersonalities", { pageNumber: 0, pageSize: 5 }],
  },
  listIsos: {
    method: "GET",
    path: "/v1/isos?pageSize=5",
    status: 200,
    answer: pageOfIsoExample,
    asked: ["listIsos", { pageNumber: 0, pageSize: 5 }],
  },
  listBundles: {
    method: "GET",
    path: "/v1/bundles?pageSize=7",
    status: 200,
    answer: pageOfBundleExample,
    asked: ["listBundles", { pageNumber: 0, pageSize: 7 }],
  },
  getBundle: {
    method: "GET",
    path: "/v1/bundles/b%201",
    status: 200,
    answer: bundleExample,
    asked: ["readBundle", "b 1"],
    names: "bundle",
  },
  listClusters: {
    method: "GET",
    path: "/v1/clusters",
    status: 200,
    answer: pageOfClusterExample,
    asked: ["listClusters", undefined],
  },
  getCluster: {
    method: "GET",
    path: "/v1/clusters/c1",
    status: 200,
    answer: clusterExample,
    asked: ["readCluster", "c1"],
    names: "cluster",
  },
};

const routes = new Map(
  allRoutes(fakeService({ started: [], listed: [], read: [], asked: [] }), "1", devAuthentication).map(
    (route): [string, Route] => [route.operationId, route],
  ),
);
const elsewhere = [
  "startUpgrade",
  "listUpgrades",
  "getUpgrade",
  "getTask",
  "watchTask",
  "createToken",
  "refreshAccessToken",
  "invalidateRefreshToken",
  "checkLive",
  "checkReady",
  "readMetrics",
  "getOpenapi",
];

const problem = { code: "X", message: "No.", remediation: "Wait." };
const failures = (named: NamedResource): Record<number, ServiceError> => ({
  400: badRequest({ ...problem, path: "scheduledTimestamp" }),
  403: notAllowed(problem),
  404: notFound(named, id),
  409: conflict({ errorCode: "X", message: "No.", remediationMessage: "Wait." }),
  424: failedDependency(problem),
  500: unexpected(new Error("secret")),
});

/** A service of which every use case fails. */
function failing(error: ServiceError): UpgradeService {
  const names = Object.keys(fakeService({ started: [], listed: [], read: [], asked: [] }));
  return Object.fromEntries(names.map((name) => [name, () => TE.left(error)])) as {
    [K in keyof UpgradeService]: never;
  };
}

describe("Every further route", () => {
  let api: ApiUnderTest;
  before(async () => (api = await startApiUnderTest()));
  beforeEach(() => (api.calls.asked.length = 0));
  after(() => api.close());

  const send = (to: ApiUnderTest, { method, path, body }: Pick<Call, "method" | "path" | "body">) => {
    const sent = request(to.url)[method.toLowerCase() as "get" | "post" | "put" | "patch" | "delete"](path);
    return sent.set("authorization", "x").send(body);
  };

  it("is tried here", () => {
    const tried = [...Object.keys(calls), ...elsewhere];
    const documented = [...routes.values()].filter((route) => route.documented !== false);
    expect(documented.map(({ operationId }) => operationId).filter((name) => !tried.includes(name))).to.deep.equal([]);
  });

  for (const [name, call] of Object.entries(calls)) {
    describe(`${name}: ${call.method} ${call.path}`, () => {
      it(`answers ${call.status} with what the use case gives`, async () => {
        const answer = await send(api, call);
        const contentType = call.status === 204 ? undefined : "application/json";
        expect([answer.status, answer.headers["content-type"]]).to.deep.equal([call.status, contentType]);
        expect(answer.body).to.deep.equal(JSON.parse(JSON.stringify(call.answer)));
        expect(api.calls.asked).to.deep.equal([call.asked]);
      });

      it("takes a trailing slash and unknown query parameters", async () => {
        const [path = "", query = ""] = call.path.split("?");
        const answer = await send(api, { ...call, path: `${path}/?${query}&sort=x&sort=y&expand` });
        expect(answer.status).to.equal(call.status);
        expect(api.calls.asked).to.deep.equal([call.asked]);
      });

      const declared = routes.get(name)?.failures ?? [];
      for (const status of declared) {
        it(`answers ${status} as an Error`, async () => {
          const error = failures(call.names ?? "upgrade")[status];
          if (!error) throw new Error(`No failure has the status ${status}`);
          const broken = await startApiUnderTest({ service: failing(error) });
          const answer = await send(broken, call);
          const code = { 404: `${(call.names ?? "").toUpperCase()}_NOT_FOUND`, 500: "INTERNAL_ERROR" }[status] ?? "X";
          const { context = {} } = expectError(answer, status, code);
          expect(Object.values(context).every((value) => typeof value === "string")).to.equal(true);
          await broken.close();
        });
      }

      const lost = declared.includes(424) ? 424 : 500;
      it(`answers ${lost} where Temporal is lost`, async () => {
        const broken = await startApiUnderTest({ service: failing(temporalUnreachable(new Error("down"))) });
        expectError(await send(broken, call), lost, "TEMPORAL_UNREACHABLE");
        await broken.close();
      });

      if (call.method === "GET") {
        it("is open to read, also with a JSON content type", async () => {
          const answer = await request(api.url).get(call.path).set("content-type", "application/json");
          expect(answer.status).to.equal(200);
          const withBody = await request(api.url).get(call.path).set("content-type", "application/json").send("{}");
          expect(withBody.status).to.equal(200);
        });
      } else {
        it("needs credentials", async () => {
          const [path = ""] = call.path.split("?");
          const answer = await request(api.url)[call.method.toLowerCase() as "post"](path).send(call.body);
          expectError(answer, 403, "Unauthorized");
          expect(api.calls.asked).to.deep.equal([]);
        });
      }
    });
  }

  it("names nothing by a path that cannot be an id, and asks no use case", async () => {
    for (const [method, path, code] of [
      ["PATCH", "/v1/upgrades/1", "UPGRADE_NOT_FOUND"],
      ["POST", "/v1/upgrades/x/pause", "UPGRADE_NOT_FOUND"],
      ["POST", "/v1/upgrades/x/prechecks", "UPGRADE_NOT_FOUND"],
      ["GET", `/v1/upgrades/${id}/prechecks/1`, "PRECHECK_NOT_FOUND"],
      ["GET", `/v1/upgrades/${id}/prechecks/${id}-prechecks-0`, "PRECHECK_NOT_FOUND"],
      ["PATCH", "/v1/tasks/cluster%2Fc1", "TASK_NOT_FOUND"],
      ["DELETE", `/v1/tasks/${id}-prechecks-x`, "TASK_NOT_FOUND"],
      ["GET", `/v1/bundles/${"x".repeat(256)}`, "BUNDLE_NOT_FOUND"],
      ["GET", `/v1/clusters/${"x".repeat(256)}`, "CLUSTER_NOT_FOUND"],
    ] as const) {
      expectError(await send(api, { method, path }), 404, code);
    }
    expect(api.calls.asked).to.deep.equal([]);
  });

  it("reads the Task of a precheck run where any Task is read", async () => {
    expect((await request(api.url).get(`/v1/tasks/${precheckId}`)).status).to.equal(200);
    expect(api.calls.read.at(-1)).to.equal(precheckId);
  });

  describe("a commit", () => {
    const commit = (body?: string, headers: Record<string, string> = {}) => {
      const sent = request(api.url)
        .patch(`/v1/upgrades/${id}`)
        .set({ authorization: "x", ...headers });
      return body === undefined ? sent : sent.send(body);
    };
    const json = { "content-type": "application/json" };

    it("needs no body, and no content type then", async () => {
      for (const answer of [
        await commit(),
        await commit("", json),
        await commit("{}", json),
        await commit(" {} ", json),
      ]) {
        expect(answer.status, answer.text).to.equal(200);
      }
      const head = `PATCH /v1/upgrades/${id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: x\r\nConnection: close\r\n`;
      for (const rest of ["\r\n", "Content-Length: 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"]) {
        expect((await sendRaw(api.port, head + rest))[0]?.status, rest).to.equal(200);
      }
      expect(api.calls.asked).to.deep.equal(Array(7).fill(["updateUpgrade", id, {}, "dev"]));
    });

    const wrong: [string, Record<string, string>, string, string?][] = [
      ["null", json, "INVALID_FIELD"],
      ["[]", json, "INVALID_FIELD"],
      ["{", json, "MALFORMED_JSON"],
      ["{}", { "content-type": "text/plain" }, "UNSUPPORTED_CONTENT_TYPE"],
      ['{"scheduledTimestamp": "tomorrow"}', json, "INVALID_FIELD", "scheduledTimestamp"],
      ['{"scheduledTimestamp": "2036-12-01T09:30:00"}', json, "INVALID_FIELD", "scheduledTimestamp"],
      ['{"upgradeNow": "true"}', json, "INVALID_FIELD", "upgradeNow"],
      ['{"markForCancellation": 1}', json, "INVALID_FIELD", "markForCancellation"],
      ['{"markForCancelation": true}', json, "UNKNOWN_FIELD", "markForCancelation"],
      ['{"upgradenow": false}', json, "UNKNOWN_FIELD", "upgradenow"],
      ['{"upgradeNow": true, "comment": null}', json, "UNKNOWN_FIELD", "comment"],
      ['{"__proto__": {"upgradeNow": true}}', json, "UNKNOWN_FIELD", "__proto__"],
      ['{"mgmtUpgradePatchSpecs": []}', json, "INVALID_FIELD", "mgmtUpgradePatchSpecs"],
      [
        '{"mgmtUpgradePatchSpecs": [{"resourceId": "vc-1"}]}',
        json,
        "MISSING_FIELD",
        "mgmtUpgradePatchSpecs[0].startSwitchoverTimestamp",
      ],
      [
        '{"mgmtUpgradePatchSpecs": [{"resourceId": "a", "startSwitchoverTimestamp": "2036-12-01T09:30:00Z", "now": 1}]}',
        json,
        "UNKNOWN_FIELD",
        "mgmtUpgradePatchSpecs[0].now",
      ],
    ];
    it("names the nearest known field, and every other problem beside", async () => {
      const { nestedErrors } = expectError(
        await commit('{"scheduledTimestmp": "x", "schedule": {}, "upgradeNow": 1}', json),
        400,
        "INVALID_REQUEST",
      );
      expect(nestedErrors?.map(({ errorCode, context }) => [errorCode, context?.["path"]])).to.deep.equal([
        ["INVALID_FIELD", "upgradeNow"],
        ["UNKNOWN_FIELD", "scheduledTimestmp"],
        ["UNKNOWN_FIELD", "schedule"],
      ]);
      expect(nestedErrors?.[1]?.message).to.contain("nearest known name is scheduledTimestamp");
      const long = expectError(await commit(`{"${"x".repeat(5000)}": 1}`, json), 400, "UNKNOWN_FIELD");
      expect(long.message.length).to.be.lessThan(600);
    });

    it("takes null for an absent field", async () => {
      expect(
        (await commit('{"scheduledTimestamp": null, "upgradeNow": null, "mgmtUpgradePatchSpecs": null}', json)).status,
      ).to.equal(200);
      expect(api.calls.asked).to.deep.equal([["updateUpgrade", id, {}, "dev"]]);
    });

    it("takes another switchover time", async () => {
      const mgmtUpgradePatchSpecs = [{ resourceId: "vc-1", startSwitchoverTimestamp: "2036-12-01T09:30:00.000Z" }];
      expect((await commit(JSON.stringify({ mgmtUpgradePatchSpecs }), json)).status).to.equal(200);
      expect(api.calls.asked).to.deep.equal([["updateUpgrade", id, { mgmtUpgradePatchSpecs }, "dev"]]);
    });

    it("that cancels is a cancellation, whatever comes with it", async () => {
      for (const beside of ['"upgradeNow": 7', '"scheduledTimestamp": "never"', '"whole": {"form": [null]}']) {
        const answer = await commit(`{${beside}, "markForCancellation": true}`, json);
        expect(answer.status, answer.text).to.equal(200);
      }
      expect(api.calls.asked).to.deep.equal(Array(3).fill(["updateUpgrade", id, { markForCancellation: true }, "dev"]));
    });

    for (const [body, headers, code, path] of wrong) {
      it(`is a 400 ${code} with ${body} as ${headers["content-type"]}`, async () => {
        const { context } = expectError(await commit(body, headers), 400, code);
        expect(context).to.deep.equal(path === undefined ? undefined : { path });
        expect(api.calls.asked).to.deep.equal([]);
      });
    }
  });

  it("that takes no body ignores one, whatever it is", async () => {
    for (const [method, path] of [
      ["post", `/v1/upgrades/${id}/pause`],
      ["patch", `/v1/tasks/${id}`],
      ["delete", `/v1/tasks/${id}`],
    ] as const) {
      for (const body of ["{}", "no json", JSON.stringify({ id: 1 })]) {
        const answer = await request(api.url)
          [method](path)
          .set("authorization", "x")
          .type("application/json")
          .send(body);
        expect(answer.status, `${method} ${path} ${body}`).to.equal(200);
      }
    }
  });

  it("tells where the Task of a precheck run is", async () => {
    const answer = await send(api, calls["runPrechecks"]!);
    expect(answer.headers["location"]).to.equal(`/v1/tasks/${precheckTaskExample.id}`);
  });
});
