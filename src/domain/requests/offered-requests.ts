import { isRight } from "fp-ts/Either";
import { hasEnded } from "../spec/upgrade";
import { requestRules } from "./request-rules";
import type { OperatorRequest, RequestContext } from "./upgrade-request";

/** All requests, the one that an operator is most likely wanted for first. */
const byLikelihood: readonly OperatorRequest[] = [
  ...(["commit", "approve", "reject", "resume", "retry", "prechecks", "pause", "resolve", "skip"] as const),
];

/** No name that anybody has: whether whoever sends a request may make it is found out then. */
const operator = { requestedBy: "\u0000" };

/** The requests that an upgrade would accept now, for those who are told what they can do. */
export function offeredRequests(context: RequestContext): readonly OperatorRequest[] {
  if (context.cancelling || (hasEnded(context.phase) && !context.awaitsResolution)) return [];
  const offered = byLikelihood.filter((request) => isRight(requestRules[request].decide(operator, context)));
  // A draft waits for its commit first; anything else that lacks an approval waits for that alone.
  const waits = context.phase !== "DRAFT_WAITING" && offered.includes("approve");
  return waits ? ["approve", ...offered.filter((request) => request !== "approve")] : offered;
}
