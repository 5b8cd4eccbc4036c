import { isGrpcServiceError, ServiceError as TemporalServiceError } from "@temporalio/client";
import { NamespaceNotFoundError } from "@temporalio/common";
import {
  busy,
  conflict,
  failedDependency,
  payloadKeyMissing,
  type ServiceError,
  temporalNotSetUp,
  temporalUnreachable,
  unexpected,
} from "../upgrades/service-error";
import { PayloadKeyError } from "./payload-encryption";

/** gRPC status codes that say that Temporal, or its namespace, cannot be reached. */
const unreachable = new Set([
  1, // CANCELLED: the deadline of the call
  4, // DEADLINE_EXCEEDED
  5, // NOT_FOUND: the namespace; executions that are not found never get here
  7, // PERMISSION_DENIED
  14, // UNAVAILABLE
  16, // UNAUTHENTICATED
]);

/** Whether an error of the Temporal client means that Temporal did not answer, or not us. */
export function isUnreachable(error: unknown): boolean {
  const code = grpcCode(error);
  return code !== undefined && unreachable.has(code);
}

/** The gRPC status code of an error of the Temporal client, where it has one. */
export function grpcCode(error: unknown): number | undefined {
  return grpcError(error)?.code;
}

function grpcError(error: unknown): { readonly code: number; readonly details: string } | undefined {
  if (isGrpcServiceError(error)) return error;
  return error instanceof TemporalServiceError && error.cause !== undefined ? grpcError(error.cause) : undefined;
}

/** An error of a read: the specification gives reads no 424 (docs/spec-gaps.md). */
export function readError(error: unknown): ServiceError {
  return (
    notSetUp(error) ??
    unreadable(error) ??
    tooManyCalls(error) ??
    (isUnreachable(error) ? temporalUnreachable(error) : unexpected(error))
  );
}

/** An error of something that changes or is part of a change. */
export function writeError(error: unknown): ServiceError {
  const known = notSetUp(error) ?? unreadable(error) ?? historyFull(error) ?? tooManyCalls(error);
  if (known) return known;
  if (!isUnreachable(error)) return unexpected(error);
  return failedDependency({
    code: "TEMPORAL_UNREACHABLE",
    message: "Temporal, which runs the upgrades, does not answer.",
    remediation: "Send the request again shortly; with an Idempotency-Key nothing happens twice.",
  });
}

/** Whether it is the namespace that was not found, which has the code of an execution that was not. */
export function isMissingNamespace(error: unknown): boolean {
  const grpc = grpcError(error);
  return grpc?.code === 5 && /^namespace /i.test(grpc.details);
}

/** How the server says that it does not know a search attribute: in a start, and in a query of each store. */
const unknownAttribute =
  /(?:no mapping defined for|invalid) search attribute:? '?(\w+)|(\w+)' is not a valid search attr/i;

/** The error of a namespace that is missing or lacks a search attribute. */
function notSetUp(error: unknown): ServiceError | undefined {
  if (error instanceof NamespaceNotFoundError) return temporalNotSetUp(`namespace ${error.namespace} is missing`);
  const grpc = grpcError(error);
  if (grpc && isMissingNamespace(error)) return temporalNotSetUp(grpc.details.replace(/\.$/, ""));
  const [, name, column] = (grpc?.code === 3 && unknownAttribute.exec(grpc.details)) || [];
  return name || column ? temporalNotSetUp(`search attribute ${name ?? column} is missing`) : undefined;
}

/** How the server says that a Workflow takes no more Signals, events or bytes. */
const workflowLimit = /exceed\w* .*limit|limit .*exceed/i;

/** The error of a Workflow whose history holds all that it may. */
function historyFull(error: unknown): ServiceError | undefined {
  const grpc = grpcError(error);
  // INVALID_ARGUMENT or FAILED_PRECONDITION.
  if (!grpc || (grpc.code !== 3 && grpc.code !== 9) || !workflowLimit.test(grpc.details)) return undefined;
  return conflict({
    errorCode: "UPGRADE_TAKES_NO_MORE_REQUESTS",
    message: `Temporal accepts no more requests for this upgrade: ${grpc.details.replace(/\.$/, "")}.`,
    remediationMessage:
      "Stop sending requests to it. Running work continues; DELETE /v1/tasks/{id} still cancels it. Start a new upgrade for the rest.",
  });
}

/** The error of a server that refuses further calls for now (RESOURCE_EXHAUSTED). */
function tooManyCalls(error: unknown): ServiceError | undefined {
  const grpc = grpcError(error);
  if (grpc?.code !== 8) return undefined;
  return busy({
    code: "TEMPORAL_BUSY",
    message: `Temporal is throttling calls: ${grpc.details.replace(/\.$/, "")}.`,
    remediation: "Send the request again later, and fewer at a time; the operator can raise Temporal's limits.",
  });
}

/** The error of a payload that cannot be decrypted, also where the client library has wrapped it. */
function unreadable(error: unknown): ServiceError | undefined {
  if (error instanceof PayloadKeyError) return payloadKeyMissing(error.keyId, error.problem);
  return error instanceof Error && error.cause !== undefined ? unreadable(error.cause) : undefined;
}
