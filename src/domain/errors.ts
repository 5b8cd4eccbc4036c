import * as t from "io-ts";
import { model } from "./codec";

/** One underlying cause of an error (Spec 7). */
export const ErrorCause = model({}, { type: t.string, message: t.string });
export type ErrorCause = t.TypeOf<typeof ErrorCause>;

/**
 * The specification's `Error` (Spec 7), named so that it does not hide JavaScript's. Every field is optional there;
 * `message` is always present here because published clients read it without a check. `context` is a flat map
 * of strings because typed clients refuse anything else.
 */
export interface ErrorBody {
  readonly errorCode?: string;
  readonly errorType?: string;
  readonly arguments?: string[];
  readonly context?: Record<string, string>;
  readonly message: string;
  readonly remediationMessage?: string;
  readonly causes?: ErrorCause[];
  readonly nestedErrors?: ErrorBody[];
  readonly referenceToken?: string;
}

export const ErrorBody: t.Type<ErrorBody, unknown, unknown> = t.recursion("Error", () =>
  model(
    { message: t.string },
    {
      errorCode: t.string,
      errorType: t.string,
      arguments: t.array(t.string),
      context: t.record(t.string, t.string),
      remediationMessage: t.string,
      causes: t.array(ErrorCause),
      nestedErrors: t.array(ErrorBody),
      referenceToken: t.string,
    },
  ),
);

/**
 * The ways in which a component manager reports that a host was not upgraded, each with the next thing that an operator
 * can do. Only these use up an attempt (docs/decisions/0004).
 */
const remediations = {
  HOST_REMEDIATION_FAILED: "Resolve what the component manager reports for the host, then retry the upgrade.",
  HOST_REMEDIATION_STALLED:
    "Find out in the component manager what the host waits for (often virtual machines that cannot move), resolve it, then retry the upgrade.",
  HOST_NOT_RECONNECTED: "Check the host's console and bring it back into the cluster, then retry the upgrade.",
  HOST_NOT_AT_TARGET: "Compare the host's image with the cluster's in the component manager, then retry the upgrade.",
  HOST_NOT_BACK_IN_SERVICE:
    "Take the host out of maintenance mode in the component manager and start its virtual machines, then retry the upgrade.",
  HOST_INCOMPATIBLE:
    "Resolve what the component manager reports for the host, or choose another image, then retry the upgrade.",
  HOST_MAINTENANCE_MODE_FAILED:
    "Make room for the host's virtual machines or power them off (preRemediationPowerAction), then retry the upgrade.",
  HOST_IN_MAINTENANCE_MODE: "Take the host out of maintenance mode in the component manager, then retry the upgrade.",
  HOST_LEFT_CLUSTER: "To upgrade the host, add it to its cluster again and upgrade the cluster.",
  HOST_LEFT_IN_MAINTENANCE_MODE: "Take the host out of maintenance mode in the component manager, then retry.",
} as const;
export type ReportedCode = keyof typeof remediations;

/** The next thing that an operator can do about a failure with this code. */
export function remediationFor(code: string): string {
  return Object.hasOwn(remediations, code) ? remediations[code as ReportedCode] : remediations.HOST_REMEDIATION_FAILED;
}
