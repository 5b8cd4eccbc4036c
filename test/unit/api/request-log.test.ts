import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import request from "supertest";
import { taskExample, upgradeExample, upgradeSpecExample } from "../../../src/api/openapi/examples";
import { defaultLimits } from "../../../src/api/request-body";
import type { Task } from "../../../src/domain/spec/task";
import { unexpected } from "../../../src/upgrades/service-error";
import { type ApiOptions, type ApiUnderTest, expectError, startApiUnderTest } from "./api-under-test";

async function withApi<A>(options: ApiOptions, use: (api: ApiUnderTest) => Promise<A>): Promise<A> {
  const api = await startApiUnderTest(options);
  try {
    return await use(api);
  } finally {
    await api.close();
  }
}

const unknownId = "00000000-0000-4000-8000-000000000000";

describe("request id", () => {
  it("is the client's own where it is harmless, else a new one", () =>
    withApi({}, async ({ url }) => {
      for (const id of ["a", "A-b_c.9", "x".repeat(128)]) {
        expect((await request(url).get("/health/live").set("x-request-id", id)).headers["x-request-id"]).to.equal(id);
      }
      for (const id of ["", "a b", "a,b", "<script>", "x".repeat(129), "é"]) {
        const { headers } = await request(url)
          .get("/health/live")
          .set("x-request-id", Buffer.from(id).toString("latin1"));
        expect(headers["x-request-id"]).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      }
    }));

  it("is in the answer, in the error and in the log line", () =>
    withApi({}, async ({ url, logLines }) => {
      const answer = await request(url).get("/nothing").set("x-request-id", "my-id");
      expect(expectError(answer, 404, "PATH_NOT_FOUND").referenceToken).to.equal("my-id");
      expect(logLines).to.have.length(1);
      expect(logLines[0]).to.include({ requestId: "my-id", status: 404, errorCode: "PATH_NOT_FOUND" });
    }));
});

describe("request log", () => {
  it("has one line a request, with the task and the caller, without credentials, query or body", () =>
    withApi({}, async ({ url, logLines }) => {
      await request(url)
        .post("/v1/upgrades?secret=in-query")
        .set("authorization", "secret-token")
        .set("idempotency-key", "secret-key")
        .send({ ...upgradeSpecExample, bundleId: "secret-bundle" });
      expect(logLines).to.have.length(1);
      expect(logLines[0]).to.include({
        method: "POST",
        path: "/v1/upgrades",
        status: 202,
        taskId: taskExample.id,
        caller: "dev",
      });
      expect(logLines[0]?.["milliseconds"]).to.be.a("number").and.at.least(0);
      expect(JSON.stringify(logLines)).to.not.contain("secret");
    }));

  it("names the task of a read upgrade", () =>
    withApi({}, async ({ url, logLines }) => {
      await request(url).get(`/v1/upgrades/${upgradeExample.id}`);
      expect(logLines[0]).to.include({ taskId: upgradeExample.taskId, status: 200 });
    }));
});

describe("internal errors", () => {
  const secret = new Error("password of 10.0.0.1 in /srv/file.ts");
  const cases: [string, () => TE.TaskEither<never, Task>][] = [
    [
      "a use case throws",
      () => {
        throw secret;
      },
    ],
    ["a use case rejects", () => () => Promise.reject(secret)],
    ["a use case rejects with no error", () => () => Promise.reject("password")],
    ["a use case gives no Task", () => TE.right({ ...taskExample, status: "DONE" } as never)],
    ["a use case gives nothing", () => TE.right(undefined as never)],
  ];
  for (const [what, getTask] of cases) {
    it(`are a 500 without internals, with the cause in the log, where ${what}`, () =>
      withApi({ service: { getTask } }, async ({ url, logLines }) => {
        const answer = await request(url).get(`/v1/tasks/${unknownId}`);
        const { referenceToken } = expectError(answer, 500, "INTERNAL_ERROR");
        expect(answer.text).to.not.match(/password|file\.ts|Error:|\bat /);
        expect(logLines).to.have.length(1);
        expect(logLines[0]).to.include({ level: 50, requestId: referenceToken, status: 500 });
        expect(logLines[0]).to.have.property("err");
      }));
  }

  it("log the cause that a use case gives", () =>
    withApi({ service: { getTask: () => TE.left(unexpected(secret)) } }, async ({ url, logLines }) => {
      expectError(await request(url).get(`/v1/tasks/${unknownId}`), 500, "INTERNAL_ERROR");
      expect(logLines[0]?.["err"]).to.include({ message: secret.message });
    }));

  it("are also a use case that never answers", () =>
    withApi(
      {
        service: { getTask: () => () => new Promise(() => undefined) },
        limits: { ...defaultLimits, answerMilliseconds: 20 },
      },
      async ({ url }) => {
        expectError(await request(url).get(`/v1/tasks/${unknownId}`), 500, "INTERNAL_ERROR");
      },
    ));

  it("let no field out that the model does not have", () =>
    withApi(
      { service: { getTask: () => TE.right({ ...taskExample, internal: "secret" } as Task) } },
      async ({ url }) => {
        expect((await request(url).get(`/v1/tasks/${unknownId}`)).body).to.deep.equal(taskExample);
      },
    ));
});

describe("authentication", () => {
  const refused = {
    _tag: "NotAllowed",
    problems: [{ code: "Unauthorized", message: "No.", remediation: "Log in." }],
  } as const;

  it("is asked for reads and writes with the header as it came, and not for health and documents", () => {
    const asked: unknown[] = [];
    const authentication = {
      authenticate: (...args: unknown[]) => {
        asked.push(args);
        return TE.left(refused);
      },
    };
    return withApi({ authentication }, async ({ url, calls }) => {
      expectError(await request(url).get("/v1/upgrades").set("authorization", "Bearer a.b"), 403, "Unauthorized");
      expectError(await request(url).post("/v1/upgrades"), 403, "Unauthorized");
      for (const path of ["/health/live", "/health/ready", "/openapi.json", "/docs/api"]) {
        expect((await request(url).get(path)).status).to.equal(200);
      }
      expect(asked).to.deep.equal([
        ["Bearer a.b", "READ"],
        [undefined, "WRITE"],
      ]);
      expect(calls).to.deep.equal({ started: [], listed: [], read: [], asked: [] });
    });
  });

  it("names the caller to the use case and to the log", () =>
    withApi(
      { authentication: { authenticate: () => TE.right({ caller: "alice", role: "OPERATOR" }) } },
      async ({ url, calls, logLines }) => {
        await request(url).post("/v1/upgrades").send(upgradeSpecExample);
        expect(calls.started[0]?.caller).to.equal("alice");
        expect(logLines[0]).to.include({ caller: "alice" });
      },
    ));
});
