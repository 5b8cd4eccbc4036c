import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { DescribedType, IntegerBetween, model, OneOf, Text } from "../../domain/codec";
import { decodeStrictly } from "../config/decode-strictly";

/** Everything that can be made to go wrong; docs/simulator.md describes each. */
export const FaultKind = OneOf(
  "MAINTENANCE_MODE_STUCK",
  "MAINTENANCE_MODE_HANGS",
  "REMEDIATION_FAILS",
  "HOST_NEVER_RECONNECTS",
  "HOST_SLOW",
  "CHECK_FAILS",
  "OPERATION_IN_PROGRESS",
  "TASKS_FORGOTTEN",
  "SESSIONS_EXPIRED",
  "LOGIN_REFUSED",
  "SERVICE_UNAVAILABLE",
  "CONNECTION_DROPPED",
  "SLOW",
  "NSX_NODE_FAILS",
  "NSX_NODE_HANGS",
  "NSX_STATUS_LAGS",
  "NSX_PAUSED",
  "NSX_STILL_IN_PROGRESS",
  "NSX_PRECHECKS_RUNNING",
  "NSX_CHECK_FAILS",
  "NSX_ACCOUNT_REFUSED",
  "NSX_REVISION_STALE",
  "MAINTENANCE_EXIT_FAILS",
  "VM_POWER_FAILS",
  "HOST_COMMUNICATION_FAILS",
  "MGMT_PRECHECK_FAILS",
  "MGMT_QUESTION_ASKED",
  "MGMT_BUSY",
  "MGMT_STAGING_FAILS",
  "MGMT_INSTALL_FAILS",
  "MGMT_INSTALL_ROLLS_BACK",
  "MGMT_INSTALL_INTERRUPTED",
  "MGMT_MIGRATION_FAILS",
  "MGMT_ADDRESS_CLASH",
  "MGMT_STUCK",
  "MGMT_BLOCKED",
  "MGMT_API_DOWN",
  "EVACUATION_IMPOSSIBLE",
  "EVACUATION_BLOCKED",
  "VSAN_ONE_AT_A_TIME",
  "PARALLEL_REMEDIATION_UNSUPPORTED",
  "IMAGE_REFUSED",
  "HARDWARE_INCOMPATIBLE",
  "EULA_NOT_ACCEPTED",
  "CLOCK_SKEW",
  "REMEDIATION_TIMES_OUT",
  "CALL_TIMED_OUT",
  "ANSWERS",
  "LATE",
  "MANAGER_RESTARTS",
  "LIFECYCLE_STARTS_LATE",
  "HOST_CERTIFICATE_EXPIRES",
  "HOST_CLOCK_WRONG",
  "MGMT_BACKUP_OLD",
  "MGMT_CERTIFICATE_EXPIRES",
  "MGMT_CLOCK_WRONG",
  "MGMT_DISK_FULL",
  "NSX_BACKUP_OLD",
  "NSX_CERTIFICATE_EXPIRES",
  "NSX_CLOCK_WRONG",
  "NSX_DISK_FULL",
);
export type FaultKind = t.TypeOf<typeof FaultKind>;

function numberBetween(minimum: number, maximum: number, unit: string) {
  const is = (u: unknown): u is number => typeof u === "number" && u >= minimum && u <= maximum;
  return new DescribedType<number>(
    `a number of ${unit} from ${minimum} to ${maximum}`,
    { type: "integer", minimum, maximum },
    is,
    (u, c) => (is(u) ? t.success(u) : t.failure(u, c)),
    t.identity,
  );
}

/** Seconds up to a day, also fractional. */
export const Seconds = numberBetween(0, 86_400, "seconds");
const Milliseconds = numberBetween(0, 600_000, "milliseconds");
const Factor = numberBetween(0.001, 100_000, "times");
/** Statuses that end a call; 204 and 304 have no body, whatever is asked for. */
const Status = IntegerBetween(200, 599);
const isAbsentStatus = (u: unknown): u is 404 | 503 => u === 404 || u === 503;
/** What a service that has not started yet is answered for by what stands before it. */
const AbsentStatus = new DescribedType<404 | 503>(
  "404 or 503",
  { type: "integer" },
  isAbsentStatus,
  (u, c) => (isAbsentStatus(u) ? t.success(u) : t.failure(u, c)),
  t.identity,
);
const isContentType = (u: unknown): u is string => typeof u === "string" && /^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(u);
const ContentType = new DescribedType<string>(
  "a content type of 1 to 255 printable ASCII characters",
  { type: "string", minLength: 1, maxLength: 255 },
  isContentType,
  (u, c) => (isContentType(u) ? t.success(u) : t.failure(u, c)),
  t.identity,
);
const Times = IntegerBetween(1, 1_000_000, "times");

/** What keeps the VMs of a host on it; each is overcome by an option of the remediation policy. */
export const EvacuationBlocker = OneOf("ADMISSION_CONTROL", "DPM", "RUNNING_VMS");
export type EvacuationBlocker = t.TypeOf<typeof EvacuationBlocker>;

const calls = { method: OneOf("GET", "POST", "PUT", "PATCH", "DELETE"), path: Text };
const ofCluster = { cluster: Text, times: Times };
const ofHost = { ...ofCluster, host: Text };
/** A NETVIRT node by id or name. */
const ofNode = { node: Text, times: Times };
/** States of an update or a migration of the management server in which work is done. */
const MgmtState = OneOf(
  "STAGE_IN_PROGRESS",
  "INSTALL_IN_PROGRESS",
  "INITIALIZING",
  "STAGING",
  "PREPARING",
  "SWITCHOVER",
  "CANCELING",
);
const ofMgmt = { times: Times, message: Text };
const kinded = <P extends t.Props>(optional: P) => model({ kind: FaultKind }, optional);

/** The fields that each kind has beside `kind`; all are optional but the status of `ANSWERS`. */
const requests: Record<FaultKind, t.Decoder<unknown, FaultRequest>> = {
  MAINTENANCE_MODE_STUCK: kinded({ ...ofHost, seconds: Seconds, message: Text }),
  MAINTENANCE_MODE_HANGS: kinded(ofHost),
  REMEDIATION_FAILS: kinded({ ...ofHost, message: Text }),
  HOST_NEVER_RECONNECTS: kinded({ ...ofHost, seconds: Seconds }),
  HOST_SLOW: kinded({ ...ofHost, factor: Factor }),
  CHECK_FAILS: kinded({ ...ofHost, issue: Text, warning: t.boolean }),
  OPERATION_IN_PROGRESS: kinded(ofCluster),
  TASKS_FORGOTTEN: kinded({ cluster: Text }),
  SESSIONS_EXPIRED: kinded({}),
  LOGIN_REFUSED: kinded({ times: Times }),
  SERVICE_UNAVAILABLE: kinded({ ...calls, times: Times, seconds: Seconds }),
  CONNECTION_DROPPED: kinded({ ...calls, times: Times, after: t.boolean }),
  SLOW: kinded({ ...calls, times: Times, milliseconds: Milliseconds }),
  NSX_NODE_FAILS: kinded({ ...ofNode, message: Text }),
  NSX_NODE_HANGS: kinded(ofNode),
  NSX_STATUS_LAGS: kinded({ times: Times, seconds: Seconds }),
  NSX_PAUSED: kinded({ times: Times }),
  NSX_STILL_IN_PROGRESS: kinded({ times: Times }),
  NSX_PRECHECKS_RUNNING: kinded({ times: Times }),
  NSX_CHECK_FAILS: kinded({ ...ofNode, message: Text, warning: t.boolean }),
  NSX_ACCOUNT_REFUSED: kinded({ times: Times }),
  NSX_REVISION_STALE: kinded({ times: Times }),
  MAINTENANCE_EXIT_FAILS: kinded({ ...ofHost, message: Text }),
  VM_POWER_FAILS: kinded({ ...ofHost, message: Text }),
  HOST_COMMUNICATION_FAILS: kinded({ ...ofHost, message: Text, seconds: Seconds }),
  MGMT_PRECHECK_FAILS: kinded({ ...ofMgmt, warning: t.boolean }),
  MGMT_QUESTION_ASKED: kinded({ times: Times, item: Text }),
  MGMT_BUSY: kinded({ times: Times }),
  MGMT_STAGING_FAILS: kinded(ofMgmt),
  MGMT_INSTALL_FAILS: kinded(ofMgmt),
  MGMT_INSTALL_ROLLS_BACK: kinded(ofMgmt),
  MGMT_INSTALL_INTERRUPTED: kinded({ times: Times }),
  MGMT_MIGRATION_FAILS: kinded({ ...ofMgmt, state: MgmtState }),
  MGMT_ADDRESS_CLASH: kinded({ times: Times }),
  MGMT_STUCK: kinded({ times: Times, state: MgmtState, seconds: Seconds }),
  MGMT_BLOCKED: kinded({ times: Times, state: MgmtState, seconds: Seconds }),
  MGMT_API_DOWN: kinded({ times: Times, seconds: Seconds }),
  EVACUATION_IMPOSSIBLE: kinded({ ...ofHost, others: IntegerBetween(1, 127, "hosts"), message: Text }),
  EVACUATION_BLOCKED: kinded({ ...ofHost, by: EvacuationBlocker, message: Text }),
  VSAN_ONE_AT_A_TIME: kinded({ cluster: Text }),
  PARALLEL_REMEDIATION_UNSUPPORTED: kinded({ cluster: Text }),
  IMAGE_REFUSED: kinded({ cluster: Text, host: Text, message: Text }),
  HARDWARE_INCOMPATIBLE: kinded({ cluster: Text, host: Text, message: Text }),
  EULA_NOT_ACCEPTED: kinded(ofCluster),
  CLOCK_SKEW: kinded({ times: Times, seconds: Seconds }),
  REMEDIATION_TIMES_OUT: kinded({ ...ofHost, seconds: Seconds, message: Text }),
  CALL_TIMED_OUT: kinded({ ...calls, times: Times, after: t.boolean }),
  ANSWERS: model(
    { kind: FaultKind, status: Status },
    { ...calls, times: Times, seconds: Seconds, contentType: ContentType, body: t.string, after: t.boolean },
  ),
  MANAGER_RESTARTS: kinded({ seconds: Seconds }),
  LIFECYCLE_STARTS_LATE: kinded({ times: Times, seconds: Seconds, status: AbsentStatus }),
  LATE: kinded({ ...calls, times: Times, milliseconds: Milliseconds, hold: t.boolean }),
  HOST_CERTIFICATE_EXPIRES: kinded({ cluster: Text, host: Text, seconds: Seconds }),
  HOST_CLOCK_WRONG: kinded({ cluster: Text, host: Text, seconds: Seconds }),
  MGMT_BACKUP_OLD: kinded({}),
  MGMT_CERTIFICATE_EXPIRES: kinded({ seconds: Seconds }),
  MGMT_CLOCK_WRONG: kinded({ seconds: Seconds }),
  MGMT_DISK_FULL: kinded({}),
  NSX_BACKUP_OLD: kinded({}),
  NSX_CERTIFICATE_EXPIRES: kinded({ seconds: Seconds }),
  NSX_CLOCK_WRONG: kinded({ seconds: Seconds }),
  NSX_DISK_FULL: kinded({}),
};

const parameters = {
  cluster: t.string,
  host: t.string,
  node: t.string,
  seconds: t.number,
  message: t.string,
  issue: t.string,
  factor: t.number,
  milliseconds: t.number,
  after: t.boolean,
  method: t.string,
  path: t.string,
  state: t.string,
  item: t.string,
  others: t.number,
  by: EvacuationBlocker,
  status: t.number,
  contentType: t.string,
  body: t.string,
  hold: t.boolean,
  warning: t.boolean,
};

/** What is asked for: a kind, optionally how often (`times`; without it until it is deleted), and its parameters. */
export const FaultRequest = model({ kind: FaultKind }, { ...parameters, times: t.number });
export type FaultRequest = t.TypeOf<typeof FaultRequest>;

/**
 * A fault in force, or used up. `remaining` counts down where the fault was asked for a number of times; `until` is
 * the epoch millisecond at which it ends by itself. `cluster` and `host` are ids, whatever they were asked by.
 */
export const Fault = model(
  { id: t.string, kind: FaultKind, createdAt: t.number },
  { ...parameters, remaining: t.number, until: t.number },
);
export type Fault = t.TypeOf<typeof Fault>;

/** A request for a fault from JSON; every error names the field. */
export function decodeFaultRequest(input: unknown): E.Either<string[], FaultRequest> {
  const kind = model({ kind: FaultKind }, {}).decode(input);
  if (E.isLeft(kind)) return E.left([`kind: must be one of ${Object.keys(FaultKind.keys).join(", ")}`]);
  return decodeStrictly(requests[kind.right.kind], input);
}

/** Kinds that end by themselves after their `seconds`; for the others `seconds` says something else. */
export const endsByItself: ReadonlySet<FaultKind> = new Set([
  "SERVICE_UNAVAILABLE",
  "CLOCK_SKEW",
  "ANSWERS",
  "MANAGER_RESTARTS",
]);

/** Whether a fault still acts at a moment (epoch milliseconds). */
export function isActive(fault: Fault, now: number): boolean {
  return fault.remaining !== 0 && (fault.until === undefined || now < fault.until);
}
