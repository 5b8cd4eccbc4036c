import type { SubTask, SubTaskStatus } from "./task";

/** Hosts, nodes or servers by how far they are. `skipped` needed nothing; `left` have not begun, or are left out. */
export interface HostCounts {
  readonly total: number;
  readonly upgraded: number;
  readonly skipped: number;
  readonly failed: number;
  readonly left: number;
}

/** Counts parts by their status; those that needed nothing have the reason AT_TARGET. */
export function countParts(parts: readonly SubTask[]): HostCounts {
  const of = (...statuses: SubTaskStatus[]) => parts.filter(({ status }) => statuses.includes(status)).length;
  const skipped = parts.filter(({ reasonCode }) => reasonCode === "AT_TARGET").length;
  return {
    total: parts.length,
    upgraded: of("SUCCESSFUL"),
    skipped,
    failed: of("FAILED"),
    left: of("PENDING", "NOT_APPLICABLE") - skipped,
  };
}
