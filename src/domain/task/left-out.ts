import type { ReasonCode, SubTask } from "../spec/task";

/** Why a part of an upgrade that could be upgraded is not to be. */
export type LeftOutReason = Extract<ReasonCode, "NOT_IN_SCOPE">;

/** A part that is left out: why, for programs and for people. */
export interface LeftOut {
  readonly reasonCode: LeftOutReason;
  readonly description: string;
}

const reasons: ReadonlySet<ReasonCode | undefined> = new Set<LeftOutReason>(["NOT_IN_SCOPE"]);

/** Whether a part is one that the upgrade is not to upgrade. */
export function isLeftOut({ status, reasonCode }: Pick<SubTask, "status" | "reasonCode">): boolean {
  return status === "NOT_APPLICABLE" && reasons.has(reasonCode);
}

/** A host that the request leaves out. `version`: what it runs, empty where that is not known. */
export function notInScope(version: string): LeftOut {
  const runs = version || "an unknown version";
  return { reasonCode: "NOT_IN_SCOPE", description: `Left out: the request does not ask for it; runs ${runs}.` };
}
