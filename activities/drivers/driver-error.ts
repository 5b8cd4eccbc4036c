import type { CredentialTries } from "./component-manager-access";
import { legible } from "../../src/domain/legible";

/**
 * What a caller can do about an error. `transient`: the same call may succeed later. `permanent`: it will not, unless
 * somebody changes something. `alreadyDone`: what was asked for is so already, which is a success.
 */
export type DriverErrorKind = "transient" | "permanent" | "alreadyDone";

/**
 * What an error could be where it comes while something that the upgrade began is in work: AWAY, that the component manager
 * is unwell for a moment; CREDENTIALS, that it cannot check credentials now that have worked before, where every try counts
 * against a lockout.
 */
export type MeaningInWork = "AWAY" | "CREDENTIALS";

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
  /** Absent where it means the same in work as at first contact. */
  readonly inWork?: MeaningInWork;
  /** Of CREDENTIALS: what all who use the same account share. */
  readonly tries?: CredentialTries;
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
  readonly inWork: MeaningInWork | undefined;
  readonly tries: CredentialTries | undefined;

  constructor(fields: DriverErrorFields) {
    const { kind, code, message, remediation, status, errorType, causes, inWork, tries } = fields;
    super(bounded(message, 500));
    this.kind = kind;
    this.code = code;
    this.remediation = remediation;
    this.status = status;
    this.errorType = errorType;
    this.causes = (causes ?? []).slice(0, 5).map((cause) => bounded(cause, 500));
    this.inWork = inWork;
    this.tries = tries;
  }

  /** The same error with other words or of another kind. */
  with(changed: Partial<Pick<DriverErrorFields, "kind" | "message" | "remediation">>): DriverError {
    return new DriverError({ ...fieldsOf(this), ...changed });
  }
}

/** All that makes an error, to make another one of it. */
export function fieldsOf(error: DriverError): DriverErrorFields {
  const { kind, code, message, remediation, status, errorType, causes, inWork, tries } = error;
  return {
    kind,
    code,
    message,
    remediation,
    causes,
    ...(status !== undefined && { status }),
    ...(errorType !== undefined && { errorType }),
    ...(inWork !== undefined && { inWork }),
    ...(tries !== undefined && { tries }),
  };
}

const busyCodes: ReadonlySet<string> = new Set(["CLUSTER_BUSY", "MGMT_BUSY"]);

/** Whether the component manager refuses because it is at work on the same thing. */
export function isBusy(error: unknown): boolean {
  return error instanceof DriverError && busyCodes.has(error.code);
}

/**
 * Whether a request was answered, by the manager or whatever stands before it, with what may be different later: asking again is
 * bounded by time. Requests without any answer may arrive yet, each of them, and are bounded by their number.
 */
export function isAnsweredForNow(error: DriverError): boolean {
  return error.kind === "transient" && (error.status !== undefined || error.inWork !== undefined);
}

/** Whether the product itself says that what the call named does not exist (any more); no path that is away for a moment. */
export function isNotFound(error: unknown): boolean {
  return error instanceof DriverError && error.code === "RESOURCE_NOT_FOUND" && error.inWork === undefined;
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

/** One line of legible text that Markdown shows as it is: without code, emphasis, links, pictures and HTML. */
function cleaned(text: string): string {
  return legible(text)
    .replace(/`/g, "'")
    .replace(/\*/g, "\u2217")
    .replace(/~~+|__+/g, (marks) => marks.charAt(0))
    .replace(/\](?=[([])/g, "] ")
    .replace(/<(?=[a-z!/?])/gi, "\u2039");
}
