import { condition, continueAsNew, workflowInfo } from "@temporalio/workflow";
import type { ErrorBody } from "../src/domain/error-body";
import type { RequestOutcome } from "../src/domain/upgrade-request";
import { currentTime } from "./clock";
import type { UpgradeRequests } from "./upgrade-messages";
import type { UpgradeSoFar, UpgradeState } from "./upgrade-state";
import type { upgradeWorkflow } from "./upgrade-workflow";

/** What one run of an upgrade's Workflow leaves to the next. */
export interface UpgradeAtRest {
  readonly state: UpgradeSoFar;
  readonly outcomes: readonly RequestOutcome[];
  /** Of a draft: when its prechecks have ended (epoch milliseconds). */
  readonly precheckedAt?: number;
  /** Of a failed upgrade. */
  readonly errors?: readonly ErrorBody[];
}

interface Resting extends Pick<UpgradeAtRest, "precheckedAt" | "errors"> {
  readonly state: UpgradeState;
  readonly requests: UpgradeRequests;
}

/** Characters of JSON that a run leaves to the next at most: Temporal takes 2 MiB at once, with the plan. */
const mostLeft = 1_000_000;

/**
 * Waits where nothing of the upgrade is in work, for a draft's commit or the decision on a failure; `until` in epoch
 * milliseconds. A history that has grown long by then is continued as new, so that neither prechecks, retries nor requests that are
 * refused can ever fill it (docs/decisions/0038). False where the time is over.
 */
export async function waitAtRest(
  isOver: () => boolean,
  { state, requests, ...known }: Resting,
  time?: { readonly until: number; readonly summary: string },
): Promise<boolean> {
  let mayContinue = true;
  const continues = () => mayContinue && workflowInfo().continueAsNewSuggested;
  const wait = async (wanted: () => boolean) => {
    if (time) return condition(wanted, Math.max(1, time.until - currentTime()), { summary: time.summary });
    await condition(wanted);
    return true;
  };
  for (;;) {
    const inTime = await wait(() => isOver() || continues());
    if (!inTime || isOver()) return inTime;
    await state.notices.handedOver();
    if (isOver()) continue;
    const before: UpgradeAtRest = { state: state.soFar, outcomes: requests.received, ...known };
    mayContinue = JSON.stringify([state.plan, before]).length <= mostLeft;
    if (mayContinue) await continueAsNew<typeof upgradeWorkflow>(state.plan, before);
  }
}
