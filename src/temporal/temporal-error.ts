import { isGrpcServiceError, ServiceError as TemporalServiceError } from "@temporalio/client";
import { failedDependency, temporalUnreachable, unexpected, type ServiceError } from "../upgrades/service-error";

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
  if (isGrpcServiceError(error)) return error.code;
  return error instanceof TemporalServiceError && error.cause !== undefined ? grpcCode(error.cause) : undefined;
}

/** An error of a read: the specification gives reads no 424 (docs/spec-gaps.md). */
export function readError(error: unknown): ServiceError {
  return isUnreachable(error) ? temporalUnreachable(error) : unexpected(error);
}

/** An error of something that changes or is part of a change. */
export function writeError(error: unknown): ServiceError {
  if (!isUnreachable(error)) return unexpected(error);
  return failedDependency({
    code: "TEMPORAL_UNREACHABLE",
    message: "Temporal, which runs the upgrades, does not answer.",
    remediation: "Send the request again in a moment; with an Idempotency-Key nothing can happen twice.",
  });
}
