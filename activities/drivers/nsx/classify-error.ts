import { bounded, DriverError, type DriverErrorKind } from "../driver-error";

/** What was being asked, in words that complete "could not …", and of which NETVIRT manager. */
interface Asked {
  readonly managerId: string;
  readonly what: string;
}

interface Judgement {
  readonly kind: DriverErrorKind;
  readonly code: string;
  readonly remediation: string;
}

const unreachable: Judgement = {
  kind: "transient",
  code: "COMPONENT_MANAGER_UNREACHABLE",
  remediation: "Check that the NETVIRT manager runs and can be reached from the workers, then retry the upgrade.",
};

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
  401: {
    kind: "permanent",
    code: "AUTHENTICATION",
    remediation: "Correct the user name or password of this NETVIRT manager in the inventory, then retry the upgrade.",
  },
  // The product says 403 of a wrong password, of a locked account and of a missing role alike. Asking again would lock it.
  403: {
    kind: "permanent",
    code: "AUTHORIZATION",
    remediation:
      "Correct the account of this NETVIRT manager in the inventory, unlock it there if it is locked and give it the enterprise administrator's role, then retry the upgrade.",
  },
  404: {
    kind: "permanent",
    code: "RESOURCE_NOT_FOUND",
    remediation: "Check that the request and the inventory name what the NETVIRT manager has, then retry the upgrade.",
  },
  408: unreachable,
  409: stale,
  412: stale,
  429: unreachable,
  502: unreachable,
  503: unreachable,
  504: unreachable,
};

const refused: Judgement = {
  kind: "permanent",
  code: "COMPONENT_MANAGER_REFUSED",
  remediation: "Correct what the upgrade coordinator objects to, then retry the upgrade.",
};

const failed: Judgement = {
  kind: "permanent",
  code: "COMPONENT_MANAGER_ERROR",
  remediation: "Look at the NETVIRT manager's own log for this error, then retry the upgrade.",
};

/** A 500 that is the product's own has an error code; one without comes from a proxy before a service that starts. */
function judge(status: number, errorCode: number | undefined): Judgement {
  const known = errorCode === undefined ? undefined : byErrorCode[errorCode];
  if (known) return known;
  if (status === 500) return errorCode === undefined ? unreachable : failed;
  return byStatus[status] ?? refused;
}

/** Judges an answer of a NETVIRT manager that is not a success: by its `error_code` where that says more than the status. */
export function errorOfAnswer({ managerId, what }: Asked, status: number, body: unknown): DriverError {
  const { error_code, error_message, related_errors } = fieldsOf(body);
  const errorCode = typeof error_code === "number" ? error_code : undefined;
  const related = Array.isArray(related_errors) ? related_errors.map((error) => fieldsOf(error).error_message) : [];
  const causes = [error_message, ...related].filter((text) => typeof text === "string" && text !== "") as string[];
  const answer = errorCode === undefined ? `${status}` : `${status} (error ${errorCode})`;
  return new DriverError({
    ...judge(status, errorCode),
    message: `Could not ${what}: ${managerId} answered ${answer}${causes[0] ? `: ${bounded(causes[0], 300)}` : "."}`,
    status,
    ...(errorCode !== undefined && { errorType: String(errorCode) }),
    causes,
  });
}

function fieldsOf(body: unknown): { error_code?: unknown; error_message?: unknown; related_errors?: unknown } {
  return typeof body === "object" && body !== null ? body : {};
}
