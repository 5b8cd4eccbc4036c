import type { Answer } from "../http/call";

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

/** A message for people in the shape of the vAPI: a stable id, the English text, and what the text was filled with. */
export interface Localizable {
  readonly id: string;
  readonly default_message: string;
  readonly args: readonly string[];
}

const prefix = "com.vmware.vcIntegrity.lifecycle";

/** `id` is the part after the product's prefix, such as `task.apply`. */
export function localizable(id: string, text: string, ...args: string[]): Localizable {
  return { id: `${prefix}.${id}`, default_message: text, args };
}

/** One notification of a result. `at` is epoch milliseconds. */
export function notification(
  type: "INFO" | "WARNING" | "ERROR",
  { id, message, at, retriable }: { id: string; message: string; at: number; retriable?: boolean },
) {
  return {
    type,
    id: `${prefix}.${id}`,
    time: new Date(at).toISOString(),
    message: localizable(id, message),
    ...(retriable !== undefined && { retriable }),
  };
}
