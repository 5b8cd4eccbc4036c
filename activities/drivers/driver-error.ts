/**
 * What a caller can do about an error. `transient`: the same call may succeed later. `permanent`: it will not, unless
 * somebody changes something. `alreadyDone`: what was asked for is so already, which is a success.
 */
export type DriverErrorKind = "transient" | "permanent" | "alreadyDone";

interface DriverErrorFields {
  readonly kind: DriverErrorKind;
  /** Stable error code of docs/error-codes.md. */
  readonly code: string;
  /** One sentence for the operator: what was asked of whom, and what came of it. */
  readonly message: string;
  /** The one next thing that an operator can do. */
  readonly remediation: string;
  /** HTTP status, where there was an answer. */
  readonly status?: number;
  /** The product's own `error_type`, where it gave one. */
  readonly errorType?: string;
  /** What the product said, in its own words and already bounded. */
  readonly causes?: readonly string[];
}

/** Every way in which work on a component manager can go wrong, already judged; the only error that drivers throw. */
export class DriverError extends Error {
  override readonly name = "DriverError";
  readonly kind: DriverErrorKind;
  readonly code: string;
  readonly remediation: string;
  readonly status: number | undefined;
  readonly errorType: string | undefined;
  readonly causes: readonly string[];

  constructor({ kind, code, message, remediation, status, errorType, causes }: DriverErrorFields) {
    super(bounded(message, 500));
    this.kind = kind;
    this.code = code;
    this.remediation = remediation;
    this.status = status;
    this.errorType = errorType;
    this.causes = (causes ?? []).slice(0, 5).map((cause) => bounded(cause, 500));
  }
}

const busyCodes: ReadonlySet<string> = new Set(["CLUSTER_BUSY", "MGMT_BUSY"]);

/** Whether the component manager refuses because it is at work on the same thing. */
export function isBusy(error: unknown): boolean {
  return error instanceof DriverError && busyCodes.has(error.code);
}

/** Whether what the call named does not exist (any more). */
export function isNotFound(error: unknown): boolean {
  return error instanceof DriverError && error.code === "RESOURCE_NOT_FOUND";
}

/** A text of at most `length` UTF-16 units; what was cut is shown as an ellipsis. */
export function bounded(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
