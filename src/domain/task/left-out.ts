import type { ErrorBody } from "../errors";
import type { ReasonCode, SubTask } from "../spec/task";

/** Why a part of an upgrade that could be upgraded is not to be. */
export type LeftOutReason = Extract<ReasonCode, "NOT_IN_SCOPE" | "PRECHECK_FAILED" | "SKIPPED_BY_OPERATOR" | "HELD">;

/** A part that is left out: why, for programs and for people. */
export interface LeftOut {
  readonly reasonCode: LeftOutReason;
  readonly description: string;
}

const reasons: ReadonlySet<ReasonCode | undefined> = new Set<LeftOutReason>([
  "NOT_IN_SCOPE",
  "PRECHECK_FAILED",
  "SKIPPED_BY_OPERATOR",
  "HELD",
]);

/** Whether a part is one that the upgrade is not to upgrade. */
export function isLeftOut({ status, reasonCode }: Pick<SubTask, "status" | "reasonCode">): boolean {
  return status === "NOT_APPLICABLE" && reasons.has(reasonCode);
}

/** A host that the request leaves out. `version`: what it runs, empty where that is not known. */
export function notInScope(version: string): LeftOut {
  const runs = version || "an unknown version";
  return { reasonCode: "NOT_IN_SCOPE", description: `Left out: the request does not ask for it; runs ${runs}.` };
}

/** A host that is held; `why` is a sentence. */
export function leftOutAsHeld(why: string): LeftOut {
  return { reasonCode: "HELD", description: `Left out: ${why}` };
}

/** A cluster that is left out because it has failed its prechecks, with what they have found. */
export const precheckFailed: LeftOut = {
  reasonCode: "PRECHECK_FAILED",
  description: "Left out: its prechecks failed, and the request continues with the other clusters.",
};

/** What an operator says of something that is left out. */
export interface SkippedBy {
  readonly reason: string;
  /** Absent where the request did not say who makes it. */
  readonly by?: string;
}

/** What an operator has left out of an upgrade that had been accepted. */
export function skippedByOperator({ reason, by = "an operator" }: SkippedBy): LeftOut {
  return { reasonCode: "SKIPPED_BY_OPERATOR", description: `Left out by ${by}: ${reason}` };
}

/** The same as the error of a resource that is left out. `title`: what it is called in a sentence. */
export function skippedError(title: string, resourceId: string, { reason, by = "an operator" }: SkippedBy): ErrorBody {
  return {
    errorCode: "SKIPPED_BY_OPERATOR",
    errorType: "UPGRADE",
    message: `${title} was left out by ${by}: ${reason}`,
    remediationMessage: "Start a new upgrade for it when it can be upgraded.",
    context: { resourceId },
  };
}

/** Why hosts are left out that the request has asked for, with the error that tells of it. */
const leftOutErrors = {
  SKIPPED_BY_OPERATOR: {
    errorCode: "HOSTS_SKIPPED",
    errorType: "UPGRADE",
    because: "by operators",
    remediationMessage: "Upgrade the cluster again for these hosts when they can be upgraded.",
  },
  HELD: {
    errorCode: "HOST_HELD",
    errorType: "CONFLICT",
    because: "as held",
    remediationMessage: "Upgrade the cluster again for these hosts when their holds are released.",
  },
} as const;

/** That hosts of a cluster were left out which the request has asked for, an error for each reason; none where there are none. */
export function leftOutWarnings(cluster: string, hosts: readonly SubTask[]): readonly ErrorBody[] {
  return (["SKIPPED_BY_OPERATOR", "HELD"] as const).flatMap((reason) => {
    const those = hosts.filter(({ reasonCode }) => reasonCode === reason);
    if (those.length === 0) return [];
    const { because, ...error } = leftOutErrors[reason];
    const named = those.slice(0, 3).map(({ name, description }) => `${name}: ${description}`);
    const more = those.length > named.length ? [`And ${those.length - named.length} more.`] : [];
    const [count, were] = those.length === 1 ? ["1 host", "was"] : [`${those.length} hosts`, "were"];
    return [
      {
        ...error,
        message: [`${count} of cluster ${cluster} ${were} left out ${because}.`, ...named, ...more].join(" "),
      },
    ];
  });
}

/** A resource that the upgrade leaves out: why, and what is wrong with it. */
export interface LeftOutResource {
  readonly reasonCode: LeftOutReason;
  readonly error: ErrorBody;
}

/** The part of a resource that has not begun, or has failed, and is left out at `at`. */
export function leaveOut(part: SubTask, { reasonCode, description }: LeftOut, error: ErrorBody, at: string): SubTask {
  const { stages: _neverBegun, waitingFor: _noMore, ...rest } = part;
  return { ...rest, status: "NOT_APPLICABLE", reasonCode, description, completionTimestamp: at, errors: [error] };
}
