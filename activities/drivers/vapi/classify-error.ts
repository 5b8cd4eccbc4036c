import { CancelledFailure } from "@temporalio/common";
import { AnswerTooLargeError } from "../../../src/bounded-body";
import { bounded, DriverError } from "../driver-error";
import {
  type Asked,
  type Classification,
  classifyStatus,
  commonClassifications,
  itsOwnWord,
  judged,
  notItsOwn,
  NotJson,
} from "../error-classification";
import { NoLeaseError } from "../lease";

const common = commonClassifications("component manager");

const busy: Classification = {
  kind: "transient",
  code: "CLUSTER_BUSY",
  remediation: "Wait for the other operation on the cluster to end, or cancel it there, then retry the upgrade.",
};

/** Classes of the vendor's client bindings. */
const byErrorType: Readonly<Record<string, Classification>> = {
  ALREADY_IN_DESIRED_STATE: {
    kind: "alreadyDone",
    code: "ALREADY_IN_DESIRED_STATE",
    remediation: "No action required.",
  },
  ALREADY_EXISTS: {
    kind: "permanent",
    code: "ALREADY_EXISTS",
    remediation: "Remove what already exists in the component manager, then retry the upgrade.",
  },
  NOT_ALLOWED_IN_CURRENT_STATE: busy,
  RESOURCE_BUSY: busy,
  RESOURCE_IN_USE: busy,
  CONCURRENT_CHANGE: busy,
};

/** How the product's identity provider words it that a token of its own was made "in the future". */
const clockSkew = /start date is in the future|not yet valid|clock skew/i;

const clocksDiffer: Classification = {
  kind: "transient",
  code: "COMPONENT_MANAGER_CLOCK_SKEW",
  remediation:
    "Synchronise the clocks of the component manager and its identity provider with one time server, then retry.",
};

/** A EULA that was not accepted comes as an error of the product itself, as reports from the field say. */
const licenseAgreement = /\beula\b|licen[cs]e agreement/i;

const notAccepted: Classification = {
  kind: "permanent",
  code: "EULA_NOT_ACCEPTED",
  remediation: "Accept the license agreement of the image in the component manager, then retry the upgrade.",
};

/**
 * What the API's own front says of a path for which no service is registered, as while it starts
 * (GitHub vmware-archive/vmware-openapi-generator #72).
 */
const noSuchService = /^com\.vmware\.vapi\.rest\./;

/** Judges an answer that is not a success: by its `error_type` where that says more than the status. */
export function errorOfAnswer(asked: Asked, status: number, body: unknown): DriverError {
  const errorType = errorTypeOf(body);
  const causes = messagesOf(body);
  const classification = classify(asked, status, body);
  const answer = errorType ? `${status} ${errorType}` : `${status}`;
  return judged(asked, classification === busy ? { ...busy, ...asked.busy } : classification, {
    answer,
    status,
    errorType,
    causes,
  });
}

function classify({ changes, mayBeMissing }: Asked, status: number, body: unknown): Classification {
  const errorType = errorTypeOf(body);
  const causes = messagesOf(body);
  if (status === 401 && causes.some((text) => clockSkew.test(text))) return clocksDiffer;
  if (status === 500 && causes.some((text) => licenseAgreement.test(text))) return notAccepted;
  const byType = status < 500 && errorType ? byErrorType[errorType] : undefined;
  if (byType) return byType;
  if (status === 409) return busy;
  const classification = classifyStatus(common, status);
  if (body instanceof NotJson) return notItsOwn(classification);
  if (errorType === undefined) return classification;
  // Who may read need not be allowed to change.
  if (status === 403 && changes) return itsOwnWord(classification);
  const isThing = mayBeMissing && !messageIdsOf(body).some((id) => noSuchService.test(id));
  return status === 404 && isThing ? itsOwnWord(classification) : classification;
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
      // It was trusted before: it has expired, or another server has its address for a while.
      inWork: "AWAY",
      message: `Could not ${what}: the certificate of ${managerId} is not trusted (${reason}).`,
      remediation:
        "Renew the certificate if it has expired, or add its authority to NODE_EXTRA_CA_CERTS of the workers, then retry the upgrade.",
    });
  }
  return new DriverError({
    ...common.unreachable,
    message: `Could not ${what}: ${managerId} does not answer (${bounded(reason, 200)}).`,
  });
}

/** An answer that is not what the contract says, so that nothing may be concluded from it. */
export function errorOfShape({ managerId, what }: Asked, problem: string): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "COMPONENT_MANAGER_ANSWER_INVALID",
    inWork: "AWAY",
    message: `Could not ${what}: ${managerId} sent an unexpected answer: ${bounded(problem, 300)}.`,
    remediation: "Check that the address in the inventory is a supported component manager, not a proxy.",
  });
}

function errorTypeOf(body: unknown): string | undefined {
  const errorType = (body as { error_type?: unknown } | null | undefined)?.error_type;
  return typeof errorType === "string" ? bounded(errorType, 80) : undefined;
}

/** The ids of the product's texts, which stay the same in every language. */
export function messageIdsOf(body: unknown): string[] {
  const messages = (body as { messages?: unknown } | null | undefined)?.messages;
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message: { id?: unknown } | null) => (typeof message?.id === "string" ? [message.id] : []));
}

/** The product's texts in any of its error bodies: an answer's, a task's `error` or a list of messages. */
export function messagesOf(body: unknown): string[] {
  const messages = (body as { messages?: unknown } | null | undefined)?.messages;
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message: { default_message?: unknown } | null) =>
    typeof message?.default_message === "string" && message.default_message !== "" ? [message.default_message] : [],
  );
}
