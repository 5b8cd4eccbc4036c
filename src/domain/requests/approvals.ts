import * as E from "fp-ts/Either";
import type { ErrorBody } from "../errors";
import type { UpgradeApprovals, UpgradePhase } from "../spec/upgrade";

/** What a decision on an approval depends on. */
export interface ApprovalContext {
  readonly phase: UpgradePhase;
  /** Undefined where the upgrade needs none. */
  readonly approvals: UpgradeApprovals | undefined;
  /** Who has asked for the upgrade as it is planned: its creator, and who has committed it or given it a time. */
  readonly askers: readonly string[];
  /** Whether its latest prechecks have passed. */
  readonly prechecksPassed: boolean;
  /** Whether something of it has begun. */
  readonly hasBegun: boolean;
}

/** Who decides, as far as the request says. */
interface Approver {
  readonly requestedBy?: string;
}

/** Whether an upgrade still lacks approvals. */
export function lacksApprovals(approvals: UpgradeApprovals | undefined): boolean {
  return approvals !== undefined && approvals.given.length < approvals.required;
}

/** What it lacks, in words of people. */
export function approvalsWanted({ required, given }: UpgradeApprovals): string {
  const missing = required - given.length;
  return `It waits for ${missing} ${missing === 1 ? "approval" : "approvals"} of ${required}.`;
}

/** The same name in another case is the same person. */
export function isSamePerson(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/** Whether somebody's approval counts. */
export function decideApprove(approver: Approver, context: ApprovalContext): E.Either<ErrorBody, void> {
  const problem = problemOf("approve", approver, context);
  if (problem) return E.left(problem);
  const { requestedBy = "" } = approver;
  if (context.approvals?.given.some(({ by }) => isSamePerson(by, requestedBy)) === true)
    return notPossible(`${requestedBy} has already approved the upgrade.`, another);
  if (!lacksApprovals(context.approvals))
    return notPossible("The upgrade already has all of its approvals.", "Read the upgrade to see who gave them.");
  return E.right(undefined);
}

/** Whether somebody's rejection ends the upgrade. */
export function decideReject(approver: Approver, context: ApprovalContext): E.Either<ErrorBody, void> {
  const problem = problemOf("reject", approver, context);
  if (problem) return E.left(problem);
  if (!context.hasBegun) return E.right(undefined);
  return notPossible("Work of the upgrade has begun, so it cannot be rejected.", "Pause or cancel it.");
}

const another = "Have another person with the role APPROVER decide.";

const decidable: ReadonlySet<UpgradePhase> = new Set([
  "DRAFT_WAITING",
  "SCHEDULED",
  "START_MISSED",
  "RUNNING",
  "PAUSED",
]);

function problemOf(
  request: string,
  { requestedBy = "" }: Approver,
  { phase, approvals, askers, prechecksPassed }: ApprovalContext,
): ErrorBody | undefined {
  if (!approvals) return conflict("The upgrade needs no approval.", "Cancel it if it must not be done.");
  if (requestedBy.trim() === "")
    return {
      errorCode: "APPROVER_UNKNOWN",
      errorType: "INVALID_INPUT",
      message: `The request does not say who wants to ${request} the upgrade.`,
      remediationMessage: 'Send JSON with the name of the approver, such as {"requestedBy": "name"}.',
    };
  if (askers.some((asker) => isSamePerson(asker, requestedBy)))
    return {
      errorCode: "APPROVAL_BY_REQUESTER",
      errorType: "NOT_ALLOWED",
      message: `${requestedBy} requested this upgrade, and cannot ${request} it.`,
      remediationMessage: another,
    };
  if (decidable.has(phase) && prechecksPassed) return undefined;
  return conflict(
    "An upgrade can be approved or rejected after its prechecks have passed and before it ends.",
    "Read the upgrade's Task to see where it stands.",
  );
}

function conflict(message: string, remediationMessage: string): ErrorBody {
  return { errorCode: "REQUEST_NOT_POSSIBLE", errorType: "CONFLICT", message, remediationMessage };
}

function notPossible(message: string, remediationMessage: string): E.Either<ErrorBody, never> {
  return E.left(conflict(message, remediationMessage));
}

/** The error with which a rejected upgrade ends. */
export function rejection(by: string, comment: string | undefined): ErrorBody {
  return {
    errorCode: "UPGRADE_REJECTED",
    errorType: "CONFLICT",
    message: `${by} rejected the upgrade${comment === undefined ? "." : `: ${comment}`}`,
    remediationMessage: "Start a new upgrade that meets the objection.",
  };
}
