import { bounded, DriverError, type DriverErrorKind } from "../driver-error";
import { faultMessages, fieldOf, type SoapFault, textIn } from "./soap";

/** What was being asked, in words that complete "could not …", and of which component manager. */
export interface Asked {
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
  remediation: "Check that the component manager runs and can be reached from the workers, then retry the upgrade.",
};

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

const credentials: Judgement = {
  kind: "permanent",
  code: "AUTHENTICATION",
  remediation: "Correct the user name or password of this component manager in the inventory, then retry the upgrade.",
};

const refused: Judgement = {
  kind: "permanent",
  code: "COMPONENT_MANAGER_REFUSED",
  remediation: "Correct what the component manager objects to, then retry the upgrade.",
};

const broken: Judgement = {
  kind: "permanent",
  code: "COMPONENT_MANAGER_ERROR",
  remediation: "Look at the component manager's own log for this error, then retry the upgrade.",
};

const byFault: Readonly<Record<string, Judgement>> = {
  InvalidLogin: credentials,
  NotAuthenticated: credentials,
  NoPermission: {
    kind: "permanent",
    code: "AUTHORIZATION",
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
  HostCommunication: away,
  // The manager's own services are starting or are cut off from each other.
  HostConnectFault: away,
  SystemError: broken,
  RuntimeFault: broken,
};

const byStatus: Readonly<Record<number, Judgement>> = {
  401: credentials,
  408: unreachable,
  429: unreachable,
  502: unreachable,
  503: unreachable,
  504: unreachable,
  500: broken,
};

/** Judges a fault by its type. A state that is what was asked for already counts as done. */
export function errorOfFault({ managerId, what }: Asked, fault: SoapFault, status?: number): DriverError {
  const judgement = isAsAsked(fault)
    ? { kind: "alreadyDone" as const, code: "ALREADY_IN_DESIRED_STATE", remediation: "Nothing is to be done." }
    : (byFault[fault.type] ?? refused);
  const causes = reasonsOfFault(fault);
  const reason = causes[0] ? `: ${causes[0]}` : ".";
  return new DriverError({
    ...judgement,
    message: `Could not ${what}: ${managerId} answered ${fault.type || "a fault"}${reason}`,
    ...(status !== undefined && { status }),
    ...(fault.type !== "" && { errorType: bounded(fault.type, 80) }),
    causes,
  });
}

/** Judges an answer that is no SOAP at all: the manager's front answered for it. */
export function errorOfStatus({ managerId, what }: Asked, status: number): DriverError {
  return new DriverError({
    ...(byStatus[status] ?? refused),
    message: `Could not ${what}: ${managerId} answered ${status}.`,
    status,
  });
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
