import { defaultPayloadConverter } from "@temporalio/common";
import { CancellationScope, condition, makeContinueAsNewFunc, workflowInfo } from "@temporalio/workflow";
import type { ErrorBody } from "../src/domain/error-body";
import type { UpgradePlan } from "../src/domain/upgrade-plan";
import type { RequestOutcome } from "../src/domain/upgrade-request";
import { currentTime } from "./clock";
import { causingRequest } from "./request-cause";
import type { UpgradeRequests } from "./upgrade-messages";
import type { UpgradeSoFar, UpgradeState } from "./upgrade-state";

/** What one run of an upgrade's Workflow leaves to the next. */
export interface UpgradeAtRest {
  readonly state: UpgradeSoFar;
  readonly outcomes: readonly RequestOutcome[];
  /** Of a draft and of an upgrade that waits for its time: when its prechecks have ended (epoch milliseconds). */
  readonly precheckedAt?: number;
  /** Of a failed upgrade. */
  readonly errors?: readonly ErrorBody[];
  /** The `x-request-id` of the HTTP request that has made it go on last. */
  readonly requestId?: string;
}

/** The Workflow of an upgrade, as an earlier run of it goes on. */
type NextRun = (plan: UpgradePlan, before: UpgradeAtRest) => Promise<unknown>;

type Known = Pick<UpgradeAtRest, "precheckedAt" | "errors">;

interface Resting extends Known {
  readonly state: UpgradeState;
  readonly requests: UpgradeRequests;
}

/** Bytes that a run leaves to the next at most, beside the outcomes of requests: Temporal takes 2 MiB at once. */
const mostLeft = 1_500_000;

/** Outcomes of requests that go along, the newest. Who has asked most likely knows by then. */
const outcomesLeft = 100;

/** Events that a run adds at least before it is continued. */
const leastAdded = 30;

/** Nothing of the upgrade is in work and its history is long: it gives its locks back and goes on in another run. */
export class HistoryIsLong extends Error {
  constructor(readonly known: Known) {
    super("The history is long");
  }
}

/** How long the history was when this run first came to rest; of the module, and so of one Workflow. */
let atFirst: number | undefined;

/**
 * Whether the history is to be continued as new where nothing is in work: the server says when. Not before it is twice as long
 * as what a run needs to come to rest at all, so that no run is continued for nothing.
 */
export function isHistoryLong(state: UpgradeState, known: Known): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  if (state.notices.pending) return false;
  atFirst ??= historyLength;
  if (!continueAsNewSuggested || historyLength < atFirst + Math.max(atFirst, leastAdded)) return false;
  const { data } = defaultPayloadConverter.toPayload([state.plan, state.soFar, known]);
  return (data?.length ?? 0) <= mostLeft;
}

/**
 * Waits where nothing of the upgrade is in work, for a draft's commit or the decision on a failure; `until` in epoch
 * milliseconds. A history that has grown long by then is continued as new, so that neither prechecks, retries nor requests that are
 * refused can fill it (docs/decisions/0038).
 */
export async function waitAtRest(
  isOver: () => boolean,
  { state, requests, ...known }: Resting,
  time?: { readonly until: number; readonly summary: string },
): Promise<void> {
  const wanted = () => isOver() || isHistoryLong(state, known);
  for (;;) {
    let inTime = true;
    if (time) inTime = await condition(wanted, Math.max(1, time.until - currentTime()), { summary: time.summary });
    else await condition(wanted);
    if (!inTime || isOver()) return;
    // What is asked for meanwhile is seen before it goes on.
    await state.notices.handedOver();
    if (!isOver()) await goOnInAnotherRun({ state, requests, ...known });
  }
}

/** Continues as new with all that the upgrade knows. Returns only where it was cancelled. */
export async function goOnInAnotherRun({ state, requests, ...known }: Resting): Promise<void> {
  await state.notices.handedOver();
  if (CancellationScope.current().consideredCancelled) return;
  const requestId = causingRequest();
  const goOn = makeContinueAsNewFunc<NextRun>({ memo: { ...workflowInfo().memo } });
  await goOn(state.plan, {
    state: state.soFar,
    outcomes: requests.received.slice(-outcomesLeft).map(withoutCauses),
    ...known,
    ...(requestId !== undefined && { requestId }),
  });
}

/** Errors of prechecks, which are on the Task, would be there once for each refusal. */
function withoutCauses({ reason, ...outcome }: RequestOutcome): RequestOutcome {
  if (!reason) return outcome;
  const { nestedErrors: _, ...rest } = reason;
  return { ...outcome, reason: rest };
}
