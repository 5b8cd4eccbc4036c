import { expect } from "chai";
import type { ApiError } from "../../../src/api/api-error";
import { errorResponse } from "../../../src/api/error-response";
import { mostNestedErrors } from "../../../src/api/request-body";
import { ErrorBody } from "../../../src/domain/errors";
import {
  badRequest,
  conflict,
  failedDependency,
  notAllowed,
  notFound,
  type Problem,
  temporalNotSetUp,
  temporalUnreachable,
  unexpected,
} from "../../../src/upgrades/service-error";

const problem: Problem = { path: "a.b", code: "SOME_CODE", message: "Some message.", remediation: "Do something." };
const cause = new Error("secret internals");
/** As an upgrade gives it. */
const reason: ErrorBody = {
  errorCode: "PRECHECKS_FAILED",
  errorType: "PRECHECK",
  message: "Two checks have failed.",
  remediationMessage: "Mend them.",
  nestedErrors: [{ errorCode: "HOST_NOT_CONNECTED", message: "Host esx-1 is away.", context: { host: "esx-1" } }],
};

const table: [string, ApiError, number, string, string][] = [
  ["a bad request", badRequest(problem), 400, "SOME_CODE", "INVALID_INPUT"],
  ["several bad things", badRequest([problem, problem]), 400, "INVALID_REQUEST", "INVALID_INPUT"],
  ["something not allowed", notAllowed(problem), 403, "SOME_CODE", "NOT_ALLOWED"],
  ["several things not allowed", notAllowed([problem, problem]), 403, "OPERATION_NOT_ALLOWED", "NOT_ALLOWED"],
  ["a failed dependency", failedDependency(problem), 424, "SOME_CODE", "FAILED_DEPENDENCY"],
  ["several of them", failedDependency([problem, problem]), 424, "FAILED_DEPENDENCY", "FAILED_DEPENDENCY"],
  ["an unknown upgrade", notFound("upgrade", "1"), 404, "UPGRADE_NOT_FOUND", "NOT_FOUND"],
  ["an unknown task", notFound("task", "1"), 404, "TASK_NOT_FOUND", "NOT_FOUND"],
  ["an unknown bundle", notFound("bundle", "1"), 404, "BUNDLE_NOT_FOUND", "NOT_FOUND"],
  ["an unknown host", notFound("host", "1"), 404, "HOST_NOT_FOUND", "NOT_FOUND"],
  ["an unknown cluster", notFound("cluster", "1"), 404, "CLUSTER_NOT_FOUND", "NOT_FOUND"],
  ["an unknown precheck run", notFound("precheck", "1"), 404, "PRECHECK_NOT_FOUND", "NOT_FOUND"],
  ["a conflict", conflict(reason), 409, "PRECHECKS_FAILED", "CONFLICT"],
  ["a lost Temporal on a read", temporalUnreachable(cause), 500, "TEMPORAL_UNREACHABLE", "FAILED_DEPENDENCY"],
  [
    "a Temporal without its search attributes on a read",
    temporalNotSetUp("namespace default lacks the search attributes BundleId (Keyword)"),
    500,
    "TEMPORAL_NOT_SET_UP",
    "FAILED_DEPENDENCY",
  ],
  [
    "a request that is shed",
    { _tag: "Overloaded", load: "READ", retryAfterSeconds: 2 },
    503,
    "OVERLOADED",
    "TOO_MANY_REQUESTS",
  ],
  [
    "a caller above its rate",
    { _tag: "RateLimited", load: "START", perMinute: 6, retryAfterSeconds: 10 },
    429,
    "RATE_LIMITED",
    "TOO_MANY_REQUESTS",
  ],
  ["too many logins", { _tag: "TooManyLogins", retryAfterSeconds: 7 }, 403, "TOO_MANY_LOGINS", "NOT_ALLOWED"],
  [
    "an issuer out of reach on a read",
    { _tag: "IssuerUnreachable", issuer: "https://login.example.com", cause },
    500,
    "ISSUER_UNREACHABLE",
    "FAILED_DEPENDENCY",
  ],
  ["anything unforeseen", unexpected(cause), 500, "INTERNAL_ERROR", "INTERNAL"],
  ["an unknown path", { _tag: "PathNotFound", path: "/x" }, 404, "PATH_NOT_FOUND", "NOT_FOUND"],
  [
    "a wrong method",
    { _tag: "MethodNotAllowed", method: "PUT", allowed: ["GET"] },
    405,
    "METHOD_NOT_ALLOWED",
    "INVALID_INPUT",
  ],
  [
    "a service that is not ready",
    { _tag: "NotReady", reason: temporalUnreachable(cause) },
    503,
    "TEMPORAL_UNREACHABLE",
    "FAILED_DEPENDENCY",
  ],
];

describe("errorResponse", () => {
  const request = { requestId: "token-1", access: "READ" } as const;

  for (const [what, error, status, errorCode, errorType] of table) {
    it(`answers ${status} ${errorCode} to ${what}`, () => {
      const response = errorResponse(error, request);
      expect(response.status).to.equal(status);
      expect(response.body).to.include({ errorCode, errorType, referenceToken: "token-1" });
      expect(response.body.message).to.be.a("string").and.not.equal("");
      expect(response.body.remediationMessage).to.be.a("string").and.not.equal("");
      expect(ErrorBody.is(response.body)).to.equal(true);
    });
  }

  it("keeps internals out of the answer and gives them to the log", () => {
    for (const error of [unexpected(cause), temporalUnreachable(cause)]) {
      const response = errorResponse(error, request);
      expect(JSON.stringify(response.body)).to.not.contain("secret");
      expect(response.cause).to.equal(cause);
    }
  });

  it("answers 424 to a lost or unprepared Temporal where the request was a write, as POST declares", () => {
    for (const error of [temporalUnreachable(cause), temporalNotSetUp("namespace default is missing")])
      expect(errorResponse(error, { ...request, access: "WRITE" }).status).to.equal(424);
  });

  it("says when to try again what may pass by itself, and of nothing else", () => {
    const away = (code: string) => failedDependency({ ...problem, code });
    const retryAfter = (error: ApiError) => errorResponse(error, request).headers["retry-after"];
    for (const error of [
      away("TEMPORAL_UNREACHABLE"),
      away("COMPONENT_MANAGER_UNREACHABLE"),
      temporalUnreachable(cause),
    ])
      expect(retryAfter(error)).to.equal("5");
    for (const error of [away("BUNDLE_NOT_DOWNLOADED"), temporalNotSetUp("namespace default is missing")])
      expect(retryAfter(error)).to.equal(undefined);
  });

  it("puts the path of a problem into context and arguments, and nothing where there is none", () => {
    expect(errorResponse(badRequest(problem), request).body).to.deep.include({
      arguments: ["a.b"],
      context: { path: "a.b" },
      remediationMessage: "Do something.",
    });
    const { path: _, ...whole } = problem;
    expect(errorResponse(badRequest(whole), request).body).to.not.have.any.keys("arguments", "context");
  });

  it("gives an upgrade's own reason for a conflict with all that it names", () => {
    const { body } = errorResponse(conflict(reason), request);
    expect(body).to.deep.equal({ ...reason, errorType: "CONFLICT", referenceToken: "token-1" });
  });

  it("nests several problems in their order", () => {
    const second = { ...problem, path: "c", code: "OTHER" };
    const { body } = errorResponse(badRequest([problem, second]), request);
    expect(body.nestedErrors?.map(({ errorCode }) => errorCode)).to.deep.equal(["SOME_CODE", "OTHER"]);
    expect(body.nestedErrors?.every((nested) => nested.errorType === "INVALID_INPUT")).to.equal(true);
    expect(body.message).to.contain("2 problems").and.contain("Some message.");
  });

  it("gives each nested error the type of its own code", () => {
    const body = errorResponse(badRequest([problem, { ...problem, effect: "NOT_ALLOWED" }]), request).body;
    expect(body.errorType).to.equal("INVALID_INPUT");
    expect(body.nestedErrors?.map(({ errorType }) => errorType)).to.deep.equal(["INVALID_INPUT", "NOT_ALLOWED"]);
  });

  it("lists a bounded number of problems and counts them all", () => {
    const { body } = errorResponse(
      badRequest(
        Array.from({ length: 120 }, () => problem),
        227,
      ),
      request,
    );
    expect(body.nestedErrors).to.have.length(mostNestedErrors);
    expect(body.context).to.deep.equal({ problems: "347", listed: "100" });
    expect(body.message).to.contain("347 problems").and.contain("first 100");
  });

  it("cuts an id that is repeated in a message", () => {
    const { body } = errorResponse(notFound("task", "x".repeat(10_000)), request);
    expect(JSON.stringify(body).length).to.be.below(1500);
  });

  it("lists the methods of a path in Allow", () => {
    const error: ApiError = { _tag: "MethodNotAllowed", method: "PUT", allowed: ["GET", "POST"] };
    expect(errorResponse(error, request).headers).to.include({ allow: "GET, POST" });
  });
});
