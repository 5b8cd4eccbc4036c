import { bounded, type DriverError } from "../driver-error";
import { type Asked, commonJudgements, itsOwnWord, type Judgement, judged, judgeStatus, notItsOwn } from "../judgement";
import { faultMessages, fieldOf, type SoapFault, textIn } from "./soap";

const common = commonJudgements("component manager");

const busy: Judgement = {
  kind: "transient",
  code: "CLUSTER_BUSY",
  remediation: "Wait for the other operation on the cluster to end, or cancel it there, then retry the upgrade.",
};

const away: Judgement = {
  kind: "transient",
  code: "HOST_NOT_CONNECTED",
  remediation: "Bring the host back into the cluster, then retry the upgrade.",
};

/** The manager's own services are starting or are cut off from each other. */
const hostUnheard: Judgement = {
  ...common.unreachable,
  remediation: "Check that the component manager runs and reaches its hosts, then retry the upgrade.",
};

const byFault: Readonly<Record<string, Judgement>> = {
  InvalidLogin: common.credentials,
  NotAuthenticated: common.credentials,
  NoPermission: {
    ...common.unauthorized,
    inWork: "AWAY",
    remediation:
      "Give the service's user the privileges for host maintenance, patches and power in the component manager, then retry the upgrade.",
  },
  ManagedObjectNotFound: {
    kind: "permanent",
    code: "RESOURCE_NOT_FOUND",
    remediation: "Check that the inventory names what the component manager has, then retry the upgrade.",
  },
  TaskInProgress: busy,
  ConcurrentAccess: busy,
  ResourceInUse: busy,
  HostNotConnected: away,
  HostNotReachable: away,
  HostCommunication: hostUnheard,
  HostConnectFault: hostUnheard,
  DatabaseError: common.broken,
  RequestCanceled: common.broken,
  RuntimeFault: common.broken,
  SystemError: common.broken,
  UnexpectedFault: common.broken,
  "": common.broken,
};

/**
 * What a fault of this type says about the request. A change that is refused is refused for good: an account that may read
 * need not be allowed to change. A read worked before, so a manager that refuses it is unwell.
 */
function judgementOf({ changes = false }: Asked, type: string): Judgement {
  const judgement = byFault[type] ?? (changes ? common.refused : notItsOwn(common.refused));
  return type === "NoPermission" && changes ? itsOwnWord(judgement) : judgement;
}

/** Judges a fault by its type. A state that is what was asked for already counts as done. */
export function errorOfFault(asked: Asked, fault: SoapFault, status?: number): DriverError {
  const judgement = isAsAsked(fault)
    ? { kind: "alreadyDone" as const, code: "ALREADY_IN_DESIRED_STATE", remediation: "Nothing is to be done." }
    : judgementOf(asked, fault.type);
  return judged(asked, judgement, {
    answer: fault.type || "a fault",
    status,
    ...(fault.type !== "" && { errorType: bounded(fault.type, 80) }),
    causes: reasonsOfFault(fault),
  });
}

/** Judges an answer that is no SOAP at all: the manager's front answered for it. */
export function errorOfStatus(asked: Asked, status: number): DriverError {
  return judged(asked, notItsOwn(judgeStatus(common, status)), { answer: `${status}`, status });
}

/** The product's words for a fault, the most telling first. */
export function reasonsOfFault({ type, message, detail }: SoapFault): string[] {
  const said = [message, ...faultMessages(detail)].filter((text) => text !== "" && text !== type);
  return [...new Set(said)];
}

function isAsAsked({ type, detail }: SoapFault): boolean {
  const requested = textIn(fieldOf(detail, "requestedState"));
  return type === "InvalidPowerState" && requested !== "" && requested === textIn(fieldOf(detail, "existingState"));
}
