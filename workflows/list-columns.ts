import type { SearchAttributePair } from "@temporalio/common";
import { upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";
import { joinNames, toKeyword } from "../src/domain/upgrade/list-columns";
import { currentTime } from "./clock";
import { clusterNamesKey, requestedByKey, startsAtKey, targetVersionKey } from "./search-attributes";

/** What a child Workflow is about; where it is about the same as its upgrade, nothing of it is given. */
interface Listed {
  readonly name?: string;
  readonly targetVersion?: string;
  /** A Timestamp. */
  readonly startsAt?: string | undefined;
}

/**
 * The columns by which people know a child of this Workflow in a list of the Temporal Web UI. Names only where this Workflow has
 * them, because there are none where payloads are encrypted.
 */
export function childColumns({ name, targetVersion, startsAt }: Listed = {}): SearchAttributePair[] {
  const own = workflowInfo().typedSearchAttributes;
  const names = own.get(clusterNamesKey);
  const version = targetVersion === undefined ? own.get(targetVersionKey) : toKeyword(targetVersion);
  const requestedBy = own.get(requestedByKey);
  return [
    ...(names === undefined
      ? []
      : [{ key: clusterNamesKey, value: name === undefined ? names : joinNames([name]) } as const]),
    ...(version === undefined ? [] : [{ key: targetVersionKey, value: version } as const]),
    ...(requestedBy === undefined ? [] : [{ key: requestedByKey, value: requestedBy } as const]),
    ...(startsAt === undefined ? [] : [{ key: startsAtKey, value: new Date(startsAt) } as const]),
  ];
}

/** The work of this Workflow begins at another time, or at none that is known. `at` is a Timestamp. */
export function showStartsAt(at: string | undefined): void {
  upsertSearchAttributes([{ key: startsAtKey, value: at === undefined ? null : new Date(at) }]);
}

/** The work of this Workflow begins now. */
export function showStartsNow(): void {
  upsertSearchAttributes([{ key: startsAtKey, value: new Date(currentTime()) }]);
}
