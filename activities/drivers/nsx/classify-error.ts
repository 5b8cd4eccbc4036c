import { bounded, type DriverError } from "../driver-error";
import { NotJson } from "../json-answer";
import { type Asked, commonJudgements, itsOwnWord, type Judgement, judged, judgeStatus, notItsOwn } from "../judgement";

const common = commonJudgements("NETVIRT manager");

const stale: Judgement = {
  kind: "transient",
  code: "NETVIRT_REVISION_STALE",
  remediation: "Find out who else edits the plan of the upgrade coordinator, then retry the upgrade.",
};

/** The coordinator's own error codes that are no failures. */
const byErrorCode: Readonly<Record<number, Judgement>> = {
  30023: {
    kind: "transient",
    code: "NETVIRT_STILL_IN_PROGRESS",
    remediation: "Wait until the upgrade coordinator has ended what it does, then retry the upgrade.",
  },
  30953: {
    kind: "alreadyDone",
    code: "NETVIRT_PRECHECKS_RUNNING",
    remediation: "Nothing is to be done.",
  },
};

const byStatus: Readonly<Record<number, Judgement>> = {
  // The product says 403 of a wrong password, of a locked account and of a missing role alike.
  403: {
    ...common.unauthorized,
    remediation:
      "Correct the account of this NETVIRT manager in the inventory, unlock it there if it is locked and give it the enterprise administrator's role, then retry the upgrade.",
  },
  409: stale,
  412: stale,
};

/** Judges an answer of a NETVIRT manager that is not a success: by its `error_code` where that says more than the status. */
export function errorOfAnswer(asked: Asked, status: number, body: unknown): DriverError {
  const { error_code, error_message, related_errors } = fieldsOf(body);
  const errorCode = typeof error_code === "number" ? error_code : undefined;
  const related = Array.isArray(related_errors) ? related_errors.map((error) => fieldsOf(error).error_message) : [];
  const texts = [error_message, ...related].filter((text) => typeof text === "string" && text !== "") as string[];
  return judged(asked, judge(asked, status, errorCode, body), {
    answer: errorCode === undefined ? `${status}` : `${status} (error ${errorCode})`,
    status,
    ...(errorCode !== undefined && { errorType: String(errorCode) }),
    causes: texts.map((text) => bounded(text, 300)),
  });
}

function judge({ mayBeMissing }: Asked, status: number, errorCode: number | undefined, body: unknown): Judgement {
  const known = errorCode === undefined ? undefined : byErrorCode[errorCode];
  if (known) return known;
  // A 500 that is the product's own has an error code; one without comes from a proxy before a service that starts.
  if (status === 500 && errorCode === undefined) return common.unreachable;
  const judgement = byStatus[status] ?? judgeStatus(common, status);
  if (body instanceof NotJson) return notItsOwn(judgement);
  return status === 404 && mayBeMissing && errorCode !== undefined ? itsOwnWord(judgement) : judgement;
}

function fieldsOf(body: unknown): { error_code?: unknown; error_message?: unknown; related_errors?: unknown } {
  return typeof body === "object" && body !== null ? body : {};
}
