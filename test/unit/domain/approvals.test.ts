import { expect } from "chai";
import * as E from "fp-ts/Either";
import { ErrorBody } from "../../../src/domain/errors";
import {
  type ApprovalContext,
  approvalsWanted,
  decideApprove,
  decideReject,
  lacksApprovals,
} from "../../../src/domain/requests/approvals";
import type { UpgradePhase } from "../../../src/domain/spec/upgrade";

const given = (...names: string[]) => names.map((by) => ({ by, at: "2026-11-01T12:00:00.000Z" }));

const standing = (changes: Partial<ApprovalContext> = {}): ApprovalContext => ({
  phase: "SCHEDULED",
  approvals: { required: 2, given: given("bob") },
  askers: ["alice", "carol@example.com"],
  prechecksPassed: true,
  hasBegun: false,
  ...changes,
});

function codeOf(decided: E.Either<ErrorBody, void>): string {
  if (E.isRight(decided)) return "accepted";
  expect(ErrorBody.is(decided.left)).to.equal(true);
  expect(decided.left.remediationMessage).to.match(/[.}]$/);
  return decided.left.errorCode ?? "";
}

const approve = (requestedBy: string | undefined, changes: Partial<ApprovalContext> = {}) =>
  codeOf(decideApprove(requestedBy === undefined ? {} : { requestedBy }, standing(changes)));
const reject = (requestedBy: string, changes: Partial<ApprovalContext> = {}) =>
  codeOf(decideReject({ requestedBy }, standing(changes)));

describe("A decision on an approval", () => {
  it("is that of a person who has not asked for the upgrade, whatever the case of the name", () => {
    expect(approve("dave")).to.equal("accepted");
    for (const asker of ["alice", "ALICE", " alice ", "Carol@Example.com"]) {
      expect(approve(asker), asker).to.equal("APPROVAL_BY_REQUESTER");
      expect(reject(asker), asker).to.equal("APPROVAL_BY_REQUESTER");
    }
    for (const nobody of [undefined, "", "  "]) expect(approve(nobody)).to.equal("APPROVER_UNKNOWN");
  });

  it("counts once for each person, until there are enough", () => {
    expect(approve("Bob")).to.equal("REQUEST_NOT_POSSIBLE");
    const enough = { approvals: { required: 2, given: given("bob", "dave") } };
    expect(approve("erin", enough)).to.equal("REQUEST_NOT_POSSIBLE");
    expect(lacksApprovals(enough.approvals)).to.equal(false);
    expect(approvalsWanted({ required: 3, given: given("bob") })).to.equal("It waits for 2 approvals of 3.");
  });

  it("is possible where approvals are wanted, after the prechecks and before the end", () => {
    expect(approve("dave", { approvals: undefined })).to.equal("REQUEST_NOT_POSSIBLE");
    expect(approve("dave", { prechecksPassed: false })).to.equal("REQUEST_NOT_POSSIBLE");
    const possible = ["DRAFT_WAITING", "SCHEDULED", "START_MISSED", "RUNNING", "PAUSED"] as const;
    for (const phase of possible) expect(approve("dave", { phase }), phase).to.equal("accepted");
    const impossible: readonly UpgradePhase[] = ["ACCEPTED", "DRAFT_PRECHECKS", "FAILED", "CANCELLED", "SUCCESSFUL"];
    for (const phase of impossible) expect(approve("dave", { phase }), phase).to.equal("REQUEST_NOT_POSSIBLE");
  });

  it("rejects only what has not begun, also where all approvals are there", () => {
    expect(reject("dave")).to.equal("accepted");
    expect(reject("bob"), "who has changed his mind").to.equal("accepted");
    expect(reject("dave", { approvals: { required: 1, given: given("bob") } })).to.equal("accepted");
    expect(reject("dave", { hasBegun: true })).to.equal("REQUEST_NOT_POSSIBLE");
  });
});
