import { quote } from "../domain/decode";
import type { ErrorBody } from "../domain/errors";
import type { Problem } from "../upgrades/service-error";
import type { Access, ApiError } from "./api-error";
import type { Load } from "./load-control";
import { mostNestedErrors } from "./request-body";

/** The kinds of error that clients can tell apart without knowing every `errorCode`; the values of `errorType`. */
export type ErrorType =
  "INVALID_INPUT" | "NOT_ALLOWED" | "FAILED_DEPENDENCY" | "NOT_FOUND" | "CONFLICT" | "TOO_MANY_REQUESTS" | "INTERNAL";

/** The HTTP answer to a failed request. `cause` is for the log and never part of the answer. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
  readonly cause?: unknown;
}

/** Whether a request was refused, rather than failed: nothing was done, and the service did what it should. */
export function isRefusal({ status, body }: ErrorResponse): boolean {
  const tooMany: ErrorType = "TOO_MANY_REQUESTS";
  return status < 500 || body.errorType === tooMany;
}

/** What the table needs to know of the request: its id, and what its route does (Spec 7: reads declare no 424). */
export interface FailedRequest {
  readonly requestId: string;
  readonly access: Access;
}

const notFoundCodes = {
  upgrade: { code: "UPGRADE_NOT_FOUND" },
  task: { code: "TASK_NOT_FOUND" },
  bundle: { code: "BUNDLE_NOT_FOUND" },
  cluster: { code: "CLUSTER_NOT_FOUND" },
  host: { code: "HOST_NOT_FOUND" },
  precheck: { code: "PRECHECK_NOT_FOUND" },
  schedule: { code: "SCHEDULE_NOT_FOUND" },
} as const;

/** What a composite error says of itself; the rest is in its nested errors. */
type Composite = Required<Pick<ErrorBody, "errorCode" | "remediationMessage">>;

const invalidRequest: Composite = {
  errorCode: "INVALID_REQUEST",
  remediationMessage: "Correct everything in nestedErrors, then send the request again.",
};
const operationNotAllowed: Composite = {
  errorCode: "OPERATION_NOT_ALLOWED",
  remediationMessage: "Remove from the request what nestedErrors lists.",
};
const failedDependency: Composite = {
  errorCode: "FAILED_DEPENDENCY",
  remediationMessage: "Send the request again when everything in nestedErrors is available.",
};

/** What may be there again soon without anybody's doing; a bundle that is not downloaded is not of that kind. */
const passing = new Set(["TEMPORAL_UNREACHABLE", "COMPONENT_MANAGER_UNREACHABLE"]);
/** Long enough for a connection that was lost to be made again, in seconds. */
const retryLater = { "retry-after": "5" };

const inWords: Readonly<Record<Load, string>> = {
  START: "requests for new upgrades",
  COMMAND: "commands to upgrades",
  READ: "requests to read",
  LIST: "requests to read",
  INVENTORY: "requests to read",
  SIGN_IN: "logins",
};

/** Links an error to its code in the documents (RFC 8288). */
function helpLink({ errorCode }: ErrorBody): Readonly<Record<string, string>> {
  return errorCode === undefined ? {} : { link: `</docs/error-codes#${errorCode}>; rel="help"` };
}

function sendAgain(load: Load, seconds: number): string {
  const again = `Send it again after ${seconds === 1 ? "a second" : `${seconds} seconds`}`;
  return load === "START" ? `${again}, with the same Idempotency-Key.` : `${again}.`;
}

/** The one table from an error to its status and body (Spec 7). docs/error-codes.md explains the codes. */
export function errorResponse(error: ApiError, request: FailedRequest): ErrorResponse {
  const answer = (status: number, body: ErrorBody, extra: Partial<ErrorResponse> = {}): ErrorResponse => ({
    status,
    ...extra,
    headers: { ...helpLink(body), ...extra.headers },
    body: { ...body, referenceToken: request.requestId },
  });
  /** Where the same request may be sent again after a time that is known: in the header, and for people in the body. */
  const answerAgainAfter = (seconds: number, status: number, body: ErrorBody): ErrorResponse =>
    answer(
      status,
      { ...body, context: { retryAfterSeconds: String(seconds), ...body.context } },
      { headers: { "retry-after": String(seconds) } },
    );
  switch (error._tag) {
    case "BadRequest":
      return answer(400, problemsBody("INVALID_INPUT", invalidRequest, error.problems, error.unlisted));
    case "NotAllowed":
      return answer(403, problemsBody("NOT_ALLOWED", operationNotAllowed, error.problems));
    case "FailedDependency":
      return answer(424, problemsBody("FAILED_DEPENDENCY", failedDependency, error.problems), {
        headers: error.problems.some(({ code }) => passing.has(code)) ? retryLater : {},
      });
    case "Conflict":
      return answer(409, { ...error.reason, errorType: "CONFLICT" });
    case "Busy":
      return answer(503, problemBody("TOO_MANY_REQUESTS", error.problem), { headers: { "retry-after": "10" } });
    case "Throttled":
      return answer(429, problemBody("TOO_MANY_REQUESTS", error.problem), { headers: { "retry-after": "10" } });
    case "NotFound":
      return answer(404, {
        errorCode: notFoundCodes[error.resource].code,
        errorType: "NOT_FOUND",
        message: `There is no ${error.resource} with the id ${quote(error.id)}.`,
        remediationMessage: `Check the id of the ${error.resource}.`,
        arguments: [cut(error.id)],
        context: { resource: error.resource, id: cut(error.id) },
      });
    case "FindingNotFound":
      return answer(404, { ...error.reason, errorType: "NOT_FOUND" });
    case "PathNotFound":
      return answer(404, {
        errorCode: "PATH_NOT_FOUND",
        errorType: "NOT_FOUND",
        message: `The path ${quote(error.path)} does not exist.`,
        remediationMessage: "Check the path; /openapi.json lists all paths.",
      });
    case "MethodNotAllowed":
      return answer(
        405,
        {
          errorCode: "METHOD_NOT_ALLOWED",
          errorType: "INVALID_INPUT",
          message: `The method ${quote(error.method)} is not allowed here.`,
          remediationMessage: `Use one of ${error.allowed.join(", ")}.`,
          arguments: [...error.allowed],
        },
        { headers: { allow: error.allowed.join(", ") } },
      );
    case "NotReady":
      return { ...errorResponse(error.reason, request), status: 503 };
    case "TooManyLogins":
      return answerAgainAfter(error.retryAfterSeconds, 403, {
        errorCode: "TOO_MANY_LOGINS",
        errorType: "NOT_ALLOWED",
        message: "Too many failed logins of this account or from this address.",
        remediationMessage: `Try again in ${error.retryAfterSeconds} seconds.`,
      });
    case "Overloaded":
      return answerAgainAfter(error.retryAfterSeconds, 503, {
        errorCode: "OVERLOADED",
        errorType: "TOO_MANY_REQUESTS",
        message: `The service has too many ${inWords[error.load]}. Nothing was done for this one.`,
        remediationMessage: sendAgain(error.load, error.retryAfterSeconds),
      });
    case "RateLimited":
      return answerAgainAfter(error.retryAfterSeconds, 429, {
        errorCode: "RATE_LIMITED",
        errorType: "TOO_MANY_REQUESTS",
        message: `You have sent more than ${error.perMinute} ${inWords[error.load]} a minute. Nothing was done for this one.`,
        remediationMessage: sendAgain(error.load, error.retryAfterSeconds),
        context: { perMinute: String(error.perMinute) },
      });
    case "IssuerUnreachable":
      return answer(
        request.access === "WRITE" ? 424 : 500,
        {
          errorCode: "ISSUER_UNREACHABLE",
          errorType: "FAILED_DEPENDENCY",
          message: `The signing keys of ${error.issuer} are unavailable.`,
          remediationMessage: "Try again later. If it persists, ask the operator to check the issuer and OIDC_ISSUER.",
          context: { issuer: cut(error.issuer) },
        },
        { headers: retryLater, cause: error.cause },
      );
    case "TemporalUnreachable":
      return answer(
        request.access === "WRITE" ? 424 : 500,
        {
          errorCode: "TEMPORAL_UNREACHABLE",
          errorType: "FAILED_DEPENDENCY",
          message: "The Temporal service, which runs the upgrades, is unreachable.",
          remediationMessage: "Try again later. If it persists, ask the operator to check the Temporal service.",
        },
        { headers: retryLater, cause: error.cause },
      );
    case "Unanswered":
      return answer(request.access === "WRITE" ? 424 : 500, problemBody("FAILED_DEPENDENCY", error.problem), {
        headers: retryLater,
      });
    case "TemporalNotSetUp":
      return answer(request.access === "WRITE" ? 424 : 500, {
        errorCode: "TEMPORAL_NOT_SET_UP",
        errorType: "FAILED_DEPENDENCY",
        message: `Temporal is not set up for upgrades: ${error.lacking}.`,
        remediationMessage:
          "Ask the operator to run config/temporal/setup-namespace.sh (docs/configuration.md), then try again.",
      });
    case "PayloadKeyMissing":
      return answer(request.access === "WRITE" ? 424 : 500, {
        errorCode: "PAYLOAD_KEY_MISSING",
        errorType: "FAILED_DEPENDENCY",
        message: `The upgrade is stored encrypted with the key ${quote(error.keyId)}, which ${error.problem}.`,
        remediationMessage:
          "Ask the operator to restore that key in PAYLOAD_KEYS_FILE and restart the API (docs/encryption.md).",
        context: { keyId: cut(error.keyId) },
      });
    case "Unexpected":
      return answer(
        500,
        {
          errorCode: "INTERNAL_ERROR",
          errorType: "INTERNAL",
          message: "The service could not handle the request.",
          remediationMessage:
            "Give the referenceToken to the operator of the service, who can find the cause in the log.",
        },
        { cause: error.cause },
      );
  }
}

/** A single problem is the error itself; several are nested in one whose code is `composite`. */
function problemsBody(
  errorType: ErrorType,
  composite: Composite,
  problems: readonly Problem[],
  unlisted = 0,
): ErrorBody {
  const [first] = problems;
  const total = problems.length + unlisted;
  if (first && total === 1) return problemBody(errorType, first);
  const listed = problems.slice(0, mostNestedErrors);
  const bound = listed.length < total ? `, of which nestedErrors lists the first ${listed.length}` : "";
  return {
    errorCode: composite.errorCode,
    errorType,
    message: `There are ${total} problems${bound}. ${first?.message ?? ""}`.trimEnd(),
    remediationMessage: composite.remediationMessage,
    arguments: [String(total)],
    context: { problems: String(total), listed: String(listed.length) },
    nestedErrors: listed.map((problem) => problemBody(errorType, problem)),
  };
}

const typeOfEffect = {
  BAD_REQUEST: "INVALID_INPUT",
  NOT_ALLOWED: "NOT_ALLOWED",
  FAILED_DEPENDENCY: "FAILED_DEPENDENCY",
} as const satisfies Record<NonNullable<Problem["effect"]>, ErrorType>;

function problemBody(errorType: ErrorType, { path, code, message, remediation, effect }: Problem): ErrorBody {
  return {
    errorCode: code,
    errorType: effect ? typeOfEffect[effect] : errorType,
    message,
    remediationMessage: remediation,
    ...(path === undefined ? {} : { arguments: [path], context: { path } }),
  };
}

function cut(text: string): string {
  return text.slice(0, 255);
}
