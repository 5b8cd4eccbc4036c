import type { Answer } from "../http/call";
import { localizable } from "./localizable";

/** Status of each error type, as the vendor's REST binding maps them. */
const statusOf = {
  ALREADY_EXISTS: 400,
  ALREADY_IN_DESIRED_STATE: 400,
  INVALID_ARGUMENT: 400,
  NOT_ALLOWED_IN_CURRENT_STATE: 400,
  UNABLE_TO_ALLOCATE_RESOURCE: 400,
  UNSUPPORTED: 400,
  UNAUTHENTICATED: 401,
  NOT_FOUND: 404,
  ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
  TIMED_OUT: 504,
} as const;
export type VapiErrorType = keyof typeof statusOf;

/** An error as the vAPI answers it: a type that implies the status, and a message with a stable id. */
export class VapiError extends Error {
  override readonly name = "VapiError";
  constructor(
    readonly errorType: VapiErrorType,
    readonly id: string,
    message: string,
    private readonly args: readonly string[] = [],
  ) {
    super(message);
  }

  get answer(): Answer {
    const messages = [localizable(this.id, this.message, ...this.args)];
    return { status: statusOf[this.errorType], body: { error_type: this.errorType, messages } };
  }
}

/** 404 of whatever stands before the services, for a path that none of them has now. */
export const pathNotFound = new VapiError("NOT_FOUND", "com.vmware.vapi.rest.httpNotFound", "Not found.");

/** 400 that names every wrong field. */
export function invalidArgument(problems: readonly string[]): VapiError {
  return new VapiError("INVALID_ARGUMENT", "invalid_argument", problems.join("; "), problems);
}
