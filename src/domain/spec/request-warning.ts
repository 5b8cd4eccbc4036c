import * as t from "io-ts";
import { model } from "../codec";

/**
 * A part of an accepted request that has no effect. `path`: the field, such as `resourceUpgradeSpecs[0].typo`.
 * `nearestName`: the known name that is nearest to an unknown one. `code` is one of docs/error-codes.md.
 */
export const RequestWarning = model({ code: t.string, message: t.string }, { path: t.string, nearestName: t.string });
export type RequestWarning = t.TypeOf<typeof RequestWarning>;

/** The most warnings that are kept of a request; Tasks are kept in memos, which have a bound. */
export const mostWarnings = 20;

/** The first of all warnings; where there are more, the last one says how many. */
export function boundedWarnings(all: readonly RequestWarning[]): readonly RequestWarning[] {
  if (all.length <= mostWarnings) return all;
  const kept = all.slice(0, mostWarnings - 1);
  return [...kept, { code: "MORE_WARNINGS", message: `There are ${all.length - kept.length} more warnings.` }];
}
