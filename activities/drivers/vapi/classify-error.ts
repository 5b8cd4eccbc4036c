import { CancelledFailure } from "@temporalio/common";
import { AnswerTooLargeError } from "../../../src/bounded-body";
import { bounded, DriverError, type DriverErrorKind } from "../driver-error";
import { NoLeaseError } from "../lease";

/** What was being asked, in words that complete "could not …", and of which component manager. */
interface Asked {
  readonly managerId: string;
  readonly what: string;
  /** What "not in this state" and "in use" mean for what was asked; default: another operation on a cluster. */
  readonly busy?: BusyJudgement;
}

interface Judgement {
  readonly kind: DriverErrorKind;
  readonly code: string;
  readonly remediation: string;
}

/** How it is called that the component manager is at work on the same thing. */
export type BusyJudgement = Pick<Judgement, "code" | "remediation">;

const unreachable: Judgement = {
  kind: "transient",
  code: "COMPONENT_MANAGER_UNREACHABLE",
  remediation: "Check that the component manager runs and can be reached from the workers, then retry the upgrade.",
};

const busy: Judgement = {
  kind: "transient",
  code: "CLUSTER_BUSY",
  remediation: "Wait for the other operation on the cluster to end, or cancel it there, then retry the upgrade.",
};

const refused: Judgement = {
  kind: "permanent",
  code: "COMPONENT_MANAGER_REFUSED",
  remediation: "Correct what the component manager objects to, then retry the upgrade.",
};

const byErrorType: Readonly<Record<string, Judgement>> = {
  ALREADY_IN_DESIRED_STATE: {
    kind: "alreadyDone",
    code: "ALREADY_IN_DESIRED_STATE",
    remediation: "Nothing is to be done.",
  },
  ALREADY_EXISTS: {
    kind: "permanent",
    code: "ALREADY_EXISTS",
    remediation: "Remove what exists already in the component manager, then retry the upgrade.",
  },
  NOT_ALLOWED_IN_CURRENT_STATE: busy,
  RESOURCE_BUSY: busy,
  RESOURCE_IN_USE: busy,
  CONCURRENT_CHANGE: busy,
};

const byStatus: Readonly<Record<number, Judgement>> = {
  401: {
    kind: "permanent",
    code: "AUTHENTICATION",
    remediation:
      "Correct the user name or password of this component manager in the inventory, then retry the upgrade.",
  },
  403: {
    kind: "permanent",
    code: "AUTHORIZATION",
    remediation: "Give the service's user the lifecycle privileges in the component manager, then retry the upgrade.",
  },
  404: {
    kind: "permanent",
    code: "RESOURCE_NOT_FOUND",
    remediation: "Check that the inventory names what the component manager has, then retry the upgrade.",
  },
  408: unreachable,
  409: busy,
  429: unreachable,
  502: unreachable,
  503: unreachable,
  504: unreachable,
  // An error of the product itself, such as a EULA that was not accepted: asking again gives the same answer.
  500: {
    kind: "permanent",
    code: "COMPONENT_MANAGER_ERROR",
    remediation: "Look at the component manager's own log for this error, then retry the upgrade.",
  },
};

/** How the product's identity provider words it that a token of its own was made "in the future". */
const clockSkew = /start date is in the future|not yet valid|clock skew/i;

const clocksDiffer: Judgement = {
  kind: "transient",
  code: "COMPONENT_MANAGER_CLOCK_SKEW",
  remediation:
    "Synchronise the clocks of the component manager and its identity provider with one time server, then retry.",
};

/** A EULA that was not accepted comes as an error of the product itself. */
const licenseAgreement = /\beula\b|licen[cs]e agreement/i;

const notAccepted: Judgement = {
  kind: "permanent",
  code: "EULA_NOT_ACCEPTED",
  remediation: "Accept the license agreement of the image in the component manager, then retry the upgrade.",
};

/** Judges an answer that is not a success: by its `error_type` where that says more than the status. */
export function errorOfAnswer({ managerId, what, busy: own }: Asked, status: number, body: unknown): DriverError {
  const errorType = errorTypeOf(body);
  const causes = messagesOf(body);
  const skewed = status === 401 && causes.some((text) => clockSkew.test(text));
  const eula = status === 500 && causes.some((text) => licenseAgreement.test(text));
  const judged =
    (skewed && clocksDiffer) ||
    (eula && notAccepted) ||
    (status < 500 && errorType && byErrorType[errorType]) ||
    byStatus[status] ||
    refused;
  const judgement = judged === busy ? { ...busy, ...own } : judged;
  const answer = errorType ? `${status} ${errorType}` : `${status}`;
  return new DriverError({
    ...judgement,
    message: `Could not ${what}: ${managerId} answered ${answer}${causes[0] ? `: ${causes[0]}` : "."}`,
    status,
    ...(errorType && { errorType }),
    causes,
  });
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/;

/**
 * Judges a call that got no answer. Whether its work was done is not known then, unless nothing was listening. Throws the
 * error again where nothing was sent for want of a lease, which says nothing of the component manager.
 */
export function errorOfTransport({ managerId, what }: Asked, error: unknown): DriverError {
  if (error instanceof CancelledFailure || error instanceof NoLeaseError) throw error;
  if (error instanceof AnswerTooLargeError) return errorOfShape({ managerId, what }, error.message);
  const { code, message } = error as { code?: unknown; message?: unknown };
  const reason = typeof code === "string" ? code : String(message);
  if (certificateCodes.test(reason)) {
    return new DriverError({
      kind: "permanent",
      code: "COMPONENT_MANAGER_CERTIFICATE",
      message: `Could not ${what}: the certificate of ${managerId} is not trusted (${reason}).`,
      remediation: "Add the certificate's authority to NODE_EXTRA_CA_CERTS of the workers, then retry the upgrade.",
    });
  }
  return new DriverError({
    ...unreachable,
    message: `Could not ${what}: ${managerId} does not answer (${bounded(reason, 200)}).`,
  });
}

/** An answer that is not what the contract says, so that nothing may be concluded from it. */
export function errorOfShape({ managerId, what }: Asked, problem: string): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "COMPONENT_MANAGER_ANSWER_INVALID",
    message: `Could not ${what}: the answer of ${managerId} is not understood: ${bounded(problem, 300)}.`,
    remediation: "Check that the address in the inventory is a supported component manager and no proxy's error page.",
  });
}

function errorTypeOf(body: unknown): string | undefined {
  const errorType = (body as { error_type?: unknown } | null | undefined)?.error_type;
  return typeof errorType === "string" ? bounded(errorType, 80) : undefined;
}

/** The product's texts in any of its error bodies: an answer's, a task's `error` or a list of messages. */
export function messagesOf(body: unknown): string[] {
  const messages = (body as { messages?: unknown } | null | undefined)?.messages;
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message: { default_message?: unknown } | null) =>
    typeof message?.default_message === "string" && message.default_message !== "" ? [message.default_message] : [],
  );
}
