import type { ErrorBody } from "./error-body";

/** How many errors a Task keeps: more than one attempt can have, and few enough for a payload of Temporal. */
const keptErrors = 300;

/** The errors of a Task after another attempt, the oldest first. All of the latest attempt stay, and as many of those before as there is room for. */
export function keepErrors(earlier: readonly ErrorBody[], latest: readonly ErrorBody[]): ErrorBody[] {
  const room = Math.max(0, keptErrors - latest.length);
  return [...earlier.slice(Math.max(0, earlier.length - room)), ...latest];
}
