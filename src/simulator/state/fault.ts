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
const Times = IntegerBetween(1, 1_000_000, "times");

/** What keeps the VMs of a host on it; each is overcome by an option of the remediation policy. */
export const EvacuationBlocker = OneOf("ADMISSION_CONTROL", "DPM", "RUNNING_VMS");
export type EvacuationBlocker = t.TypeOf<typeof EvacuationBlocker>;

const calls = { method: OneOf("GET", "POST", "PUT", "PATCH", "DELETE"), path: Text };
const ofCluster = { cluster: Text, times: Times };
const ofHost = { ...ofCluster, host: Text };
const kinded = <P extends t.Props>(optional: P) => model({ kind: FaultKind }, optional);

/** The fields that each kind has beside `kind`; all are optional. */
const requests: Record<FaultKind, t.Decoder<unknown, FaultRequest>> = {
  MAINTENANCE_MODE_STUCK: kinded({ ...ofHost, seconds: Seconds, message: Text }),
  MAINTENANCE_MODE_HANGS: kinded(ofHost),
  REMEDIATION_FAILS: kinded({ ...ofHost, message: Text }),
  HOST_NEVER_RECONNECTS: kinded({ ...ofHost, seconds: Seconds }),
  HOST_SLOW: kinded({ ...ofHost, factor: Factor }),
  CHECK_FAILS: kinded({ ...ofHost, issue: Text }),
  OPERATION_IN_PROGRESS: kinded(ofCluster),
  TASKS_FORGOTTEN: kinded({ cluster: Text }),
  SESSIONS_EXPIRED: kinded({}),
  LOGIN_REFUSED: kinded({ times: Times }),
  SERVICE_UNAVAILABLE: kinded({ ...calls, times: Times, seconds: Seconds }),
  CONNECTION_DROPPED: kinded({ ...calls, times: Times, after: t.boolean }),
  SLOW: kinded({ ...calls, times: Times, milliseconds: Milliseconds }),
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
};

const parameters = {
  cluster: t.string,
  host: t.string,
  seconds: t.number,
  message: t.string,
  issue: t.string,
  factor: t.number,
  milliseconds: t.number,
  after: t.boolean,
  method: t.string,
  path: t.string,
  others: t.number,
  by: EvacuationBlocker,
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

/** Whether a fault still acts at a moment (epoch milliseconds). */
export function isActive(fault: Fault, now: number): boolean {
  return fault.remaining !== 0 && (fault.until === undefined || now < fault.until);
}
