import { isRight } from "fp-ts/Either";
import { hasEnded } from "../spec/upgrade";
import { findingKey, isBlocking } from "../task/findings";
import { requestRules } from "./request-rules";
import type { OperatorRequest, RequestContext } from "./upgrade-request";

/** All requests, the one that an operator is most likely wanted for first. */
const byLikelihood: readonly OperatorRequest[] = [
  ...(["commit", "approve", "reject", "resume", "retry", "acknowledge", "prechecks", "pause"] as const),
  ...(["resolve", "skip"] as const),
];

/** No name that anybody has: whether whoever sends a request may make it is found out then. */
const operator = { requestedBy: "\u0000" };

/** Of findings the first that blocks the upgrade and can be acknowledged is asked for: nobody has to say so of the others. */
function decide(request: OperatorRequest, context: RequestContext) {
  if (request !== "acknowledge") return requestRules[request].decide(operator, context);
  const { finding } =
    context.prechecked?.findings.find((one) => one.finding.isAcknowledgeable && isBlocking(one.finding, context.now)) ??
    {};
  return requestRules.acknowledge.decide({ ...operator, ...(finding && findingKey(finding)) }, context);
}

/** The requests that an upgrade would accept now, for those who are told what they can do. */
export function offeredRequests(context: RequestContext): readonly OperatorRequest[] {
  if (context.cancelling || (hasEnded(context.phase) && !context.awaitsResolution)) return [];
  const offered = byLikelihood.filter((request) => isRight(decide(request, context)));
  // A draft waits for its commit first; anything else that lacks an approval waits for that alone.
  const waits = context.phase !== "DRAFT_WAITING" && offered.includes("approve");
  return waits ? ["approve", ...offered.filter((request) => request !== "approve")] : offered;
}
