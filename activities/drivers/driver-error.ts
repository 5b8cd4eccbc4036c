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

/**
 * A text of at most `length` UTF-16 units; what was cut is shown as an ellipsis. What a product says is cleaned here, where
 * it comes in: it is shown in terminals, in logs and, as Markdown, in Temporal's Web UI.
 */
export function bounded(text: string, length: number): string {
  // Nothing that is cleaned makes a text more than twice as long, and cleaning a long one would take long.
  const clean = cleaned(text.slice(0, 2 * length));
  return clean.length <= length && text.length <= 2 * length ? clean : `${cleaned(clean.slice(0, length - 1))}…`;
}

/** Control characters, and those that break a line or turn the direction of a text. */
const steering = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]+/gu;

/** One line of well-formed text that Markdown shows as it is: without code, emphasis, links, pictures and HTML. */
function cleaned(text: string): string {
  return text
    .replace(steering, " ")
    .replace(/\p{Cs}/gu, "\ufffd")
    .replace(/`/g, "'")
    .replace(/\*/g, "\u2217")
    .replace(/~~+|__+/g, (marks) => marks.charAt(0))
    .replace(/\](?=[([])/g, "] ")
    .replace(/<(?=[a-z!/?])/gi, "\u2039");
}
