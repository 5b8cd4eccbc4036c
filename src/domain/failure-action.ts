import type { AttemptPolicy } from "./upgrade-plan";
import type { HostosUpgradeFailureAction } from "./upgrade-spec";

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
