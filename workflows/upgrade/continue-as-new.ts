import { defaultPayloadConverter } from "@temporalio/common";
import { CancellationScope, condition, makeContinueAsNewFunc, workflowInfo } from "@temporalio/workflow";
import type { ErrorBody } from "../../src/domain/errors";
import type { UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import type { RequestOutcome } from "../../src/domain/requests/upgrade-request";
import { currentTime } from "../clock";
import { causingRequest } from "../request-cause";
import type { UpgradeRequests } from "./upgrade-requests";
import type { CarriedState, UpgradeState } from "./upgrade-state";

/** What one run of an upgrade's Workflow hands to the next (docs/decisions/0038). */
export interface CarriedUpgrade {
  readonly state: CarriedState;
  readonly outcomes: readonly RequestOutcome[];
  /** Of a draft and of an upgrade that waits for its time: when its prechecks ended (epoch milliseconds). */
  readonly precheckedAt?: number;
  /** Of a failed upgrade. */
  readonly errors?: readonly ErrorBody[];
  /** The `x-request-id` of the HTTP request on whose behalf the upgrade works. */
  readonly requestId?: string;
}

export type Known = Pick<CarriedUpgrade, "precheckedAt" | "errors">;

/** Most bytes of state that are handed on, beside the outcomes of requests; Temporal takes 2 MiB. */
const maximumBytes = 1_500_000;

/** How many outcomes are handed on, the newest: whoever sent an earlier request has had its answer. */
const maximumOutcomes = 100;

/** Thrown where nothing of the upgrade is in work and its history is long. The Workflow gives its locks back and continues as new. */
export class HistoryTooLong extends Error {
  constructor(readonly known: Known) {
    super("The history is too long");
  }
}

/** How long the history was when this run had nothing in work for the first time. The SDK gives each Workflow its own module. */
let lengthAtRest: number | undefined;

/**
 * Whether to continue as new while nothing of the upgrade is in work: when the server suggests it, but not before the history is
 * twice as long as a run needs to get this far, so that no run continues without having been asked for anything.
 */
export function isHistoryTooLong(state: UpgradeState, known: Known): boolean {
  if (state.notices.pending) return false;
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  lengthAtRest ??= historyLength;
  if (!continueAsNewSuggested || historyLength < 2 * lengthAtRest) return false;
  const { data } = defaultPayloadConverter.toPayload([state.plan, state.carried, known]);
  return (data?.length ?? 0) <= maximumBytes;
}

/**
 * Waits while nothing of the upgrade is in work: for the commit of a draft, or for the decision about a failure until `until`
 * (epoch milliseconds). Throws HistoryTooLong.
 */
export async function waitAtRest(
  state: UpgradeState,
  isOver: () => boolean,
  known: Known,
  time?: { readonly until: number; readonly summary: string },
): Promise<void> {
  const wanted = () => isOver() || isHistoryTooLong(state, known);
  if (!time) await condition(wanted);
  else if (!(await condition(wanted, Math.max(1, time.until - currentTime()), { summary: time.summary }))) return;
  if (!isOver()) throw new HistoryTooLong(known);
}

/** Continues as new with all that the upgrade knows. Returns only if the upgrade was cancelled meanwhile. */
export async function continueUpgradeAsNew(
  state: UpgradeState,
  requests: UpgradeRequests,
  known: Known,
): Promise<void> {
  await state.notices.handedOver();
  if (CancellationScope.current().consideredCancelled) return;
  const requestId = causingRequest();
  // Without a memo the next run would begin with that of the very first start.
  const memo = { ...workflowInfo().memo };
  const next = makeContinueAsNewFunc<(plan: UpgradePlan, carried: CarriedUpgrade) => Promise<unknown>>({ memo });
  await next(state.plan, {
    state: state.carried,
    outcomes: requests.received.slice(-maximumOutcomes).map(withoutCauses),
    ...known,
    ...(requestId !== undefined && { requestId }),
  });
}

/** Without the errors of prechecks, which are on the Task and would be repeated with every refusal. */
function withoutCauses({ reason, ...outcome }: RequestOutcome): RequestOutcome {
  if (!reason) return outcome;
  const { nestedErrors: _, ...rest } = reason;
  return { ...outcome, reason: rest };
}
