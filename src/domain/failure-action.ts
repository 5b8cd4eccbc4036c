import type { AttemptPolicy } from "./upgrade-plan";
import type { HostosUpgradeFailureAction } from "./upgrade-spec";

/** Of several policies the one that a step takes which serves them all: the fewest attempts, then the shortest wait. */
export function strictest(policies: readonly AttemptPolicy[]): AttemptPolicy {
  const [first = attemptPolicyOf(undefined), ...others] = policies;
  return others.reduce(
    (least, policy) =>
      policy.maximumAttempts < least.maximumAttempts ||
      (policy.maximumAttempts === least.maximumAttempts && policy.retryDelay < least.retryDelay)
        ? policy
        : least,
    first,
  );
}

/** What RETRY means where the request gives no numbers: the least that the component manager's own retry knows. */
const defaults = { retryCount: 3, retryDelay: 300 };

/**
 * How often a host is tried (docs/spec-gaps.md, hostosUpgradeFailureAction). RETRY tries `retryCount` times more, with
 * `retryDelay` seconds in between; FAIL or no action tries once, and its count and delay are ignored.
 */
export function attemptPolicyOf(action: HostosUpgradeFailureAction | undefined): AttemptPolicy {
  if (action?.action !== "RETRY") return { maximumAttempts: 1, retryDelay: 0 };
  return {
    maximumAttempts: (action.retryCount ?? defaults.retryCount) + 1,
    retryDelay: action.retryDelay ?? defaults.retryDelay,
  };
}
