import type { RolloutSpec, ToleratedFailures } from "../spec/upgrade-spec";
import type { RolloutPolicy } from "./upgrade-plan";

/** What a request asks of a rollout, as numbers: a percentage is one of the hosts in scope, rounded down. */
export function rolloutAsked(
  { toleratedFailures, ...numbers }: RolloutSpec = {},
  hostsInScope: number,
): Partial<RolloutPolicy> {
  if (toleratedFailures === undefined) return numbers;
  return { ...numbers, toleratedFailures: hostsThatMayFail(toleratedFailures, hostsInScope) };
}

function hostsThatMayFail(asked: ToleratedFailures, hostsInScope: number): number {
  return typeof asked === "number" ? asked : Math.floor((Number.parseInt(asked, 10) * hostsInScope) / 100);
}
