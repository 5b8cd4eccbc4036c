import { expect } from "chai";
import {
  after,
  afterBoth,
  begun,
  seen,
  type Circumstances,
  type Place,
  type Phase,
  type Request,
} from "./upgrade-model";

const calm: Circumstances = {
  mayFail: false,
  checksMayFail: false,
  mayBeHeld: false,
  ...{ isOnHold: false, mayLeaveOut: false, maySkip: false },
};
const onHold: Circumstances = { ...calm, isOnHold: true };
const failing: Circumstances = { ...calm, mayFail: true };
const ok = { status: 200 };
const finding = { run: 1, code: "HEALTH_CHECK_ERROR" };
const notPossible = (state: string) => ({ status: 409, code: "REQUEST_NOT_POSSIBLE", state });
const at = (phase: Phase): Place[] => [{ phase, due: "NOW", cancelling: false, lost: [] }];
const everyPhase: readonly Phase[] = [
  ...(["DRAFT_CHECKING", "DRAFT_READY", "DRAFT_REFUSED", "ACCEPTED", "RUNNING", "SCHEDULED", "PAUSED"] as const),
  ...(["SUCCESSFUL", "SUCCESSFUL_WITH_WARNING", "SKIPPED", "FAILED", "GIVEN_UP", "CANCELLED"] as const),
];
const phases = (places: readonly Place[]) => [...new Set(places.map(({ phase }) => phase))].sort();

/** Answers and reads that the service must never give: the model explains none of them. */
const wrong: Readonly<Record<string, () => Place[]>> = {
  "a commit that a finished Task accepts": () => after(at("SUCCESSFUL"), { name: "commit" }, ok, calm),
  "a commit that a given up Task accepts": () => after(at("GIVEN_UP"), { name: "commit" }, ok, failing),
  "a retry of a cancelled Task": () => after(at("CANCELLED"), { name: "retry" }, ok, failing),
  "a retry of a running Task that cannot have ended": () =>
    after([{ ...at("RUNNING")[0]!, due: "LATER" }], { name: "retry" }, ok, calm),
  "a pause of a draft": () => after(begun(true, "NOW"), { name: "pause" }, ok, calm),
  "two pauses that are both accepted": () =>
    afterBoth(at("RUNNING"), [{ name: "pause" }, ok], [{ name: "pause" }, ok], calm),
  "a retry and a resolve that are both accepted": () =>
    afterBoth(at("FAILED"), [{ name: "resolve" }, ok], [{ name: "retry" }, ok], calm).filter(
      ({ phase }) => phase === "GIVEN_UP" || phase === "FAILED",
    ),
  "a cancellation that is refused while it waits": () =>
    after(at("DRAFT_READY"), { name: "cancel" }, notPossible("DRAFT"), calm),
  "a refusal that names another state": () => after(at("SUCCESSFUL"), { name: "pause" }, notPossible("PAUSED"), calm),
  "a refusal of another kind": () =>
    after(at("DRAFT_READY"), { name: "commit" }, { status: 409, code: "PRECHECKS_FAILED" }, calm),
  "a locked cluster that nobody holds": () =>
    after(at("DRAFT_READY"), { name: "commit" }, { status: 409, code: "RESOURCE_LOCKED" }, calm),
  "a commit while its cluster is held": () => after(at("DRAFT_READY"), { name: "commit" }, ok, onHold),
  "a hold that nobody has placed": () =>
    after(at("DRAFT_READY"), { name: "commit" }, { status: 403, code: "RESOURCE_HELD" }, calm),
  "a host that is left out of an upgrade that has ended": () => after(at("SUCCESSFUL"), { name: "skip" }, ok, calm),
  "a host in work before the upgrade has begun": () =>
    after(at("DRAFT_READY"), { name: "skip" }, { status: 409, code: "HOST_IN_WORK" }, calm),
  "an upgrade that is left without its cluster": () => after(at("SCHEDULED"), { name: "skipCluster" }, ok, calm),
  "a finding that is acknowledged although nobody has read of it": () =>
    after(at("DRAFT_REFUSED"), { name: "acknowledge" }, ok, calm),
  "a finding that is acknowledged after the end": () =>
    after(at("SUCCESSFUL"), { name: "acknowledge", finding }, ok, calm),
  "a draft that is READY although its finding was not accepted": () =>
    after(
      after(at("DRAFT_REFUSED"), { name: "acknowledge", finding }, { status: 404, code: "FINDING_NOT_FOUND" }, calm),
      { name: "commit" },
      ok,
      calm,
    ),
  "a warning although nothing was left out": () => seen(at("RUNNING"), { task: "COMPLETED_WITH_WARNING" }, calm),
  "an unforeseen error": () => after(at("RUNNING"), { name: "pause" }, { status: 500, code: "INTERNAL_ERROR" }, calm),
  "a failure without a cause": () => seen(at("RUNNING"), { task: "Failed" }, calm),
  "a running Task that goes back to its draft": () => seen(at("RUNNING"), { upgrade: "DRAFT" }, failing),
  "a finished Task that runs again": () => seen(at("SUCCESSFUL"), { task: "In Progress" }, failing),
  "a cancelled upgrade that succeeds": () =>
    seen(after(at("RUNNING"), { name: "cancel" }, ok, calm), { task: "Successful" }, calm),
  "a draft that nobody has committed and that runs": () => seen(begun(true, "NOW"), { upgrade: "INPROGRESS" }, calm),
  "an upgrade that succeeds before its time": () => seen(begun(false, "LATER"), { task: "Successful" }, calm),
  "a Task and an Upgrade that disagree": () =>
    seen(at("RUNNING"), { task: "In Progress", upgrade: "COMPLETED_WITH_SUCCESS" }, calm),
  "a resolved Task that waits for a decision": () =>
    seen(after(at("FAILED"), { name: "resolve" }, ok, calm), { task: "Failed", resolution: "UNRESOLVED" }, calm),
  "hosts that were at the target although nobody brought them there": () =>
    seen(at("RUNNING"), { task: "SKIPPED" }, calm),
};

describe("the model of an upgrade", () => {
  for (const [what, places] of Object.entries(wrong))
    it(`has no explanation for ${what}`, () => {
      expect(places()).to.deep.equal([]);
    });

  it("explains the life of a draft", () => {
    const committed = after(begun(true, "NOW"), { name: "commit", due: "LATER" }, ok, calm);
    const scheduled = seen(committed, { task: "Pending", upgrade: "SCHEDULED" }, calm);
    const early = after(scheduled, { name: "commit", due: "NOW" }, ok, calm);
    const paused = after(seen(early, { upgrade: "INPROGRESS" }, calm), { name: "pause" }, ok, calm);
    const resumed = after(paused, { name: "resume" }, ok, calm);
    expect(phases(seen(resumed, { task: "Successful" }, calm))).to.deep.equal(["SUCCESSFUL"]);
  });

  it("explains either order of a commit and a cancellation, and both end as cancelled", () => {
    for (const commit of [ok, notPossible("DRAFT")]) {
      const places = afterBoth(at("DRAFT_READY"), [{ name: "commit" }, commit], [{ name: "cancel" }, ok], calm);
      expect(phases(seen(places, { task: "Cancelled" }, calm))).to.deep.equal(["CANCELLED"]);
      expect(seen(places, { task: "Successful" }, calm)).to.deep.equal([]);
    }
  });

  it("explains a retry that is refused at the very moment of another one", () => {
    const refused = notPossible("COMPLETED_WITH_FAILURE");
    expect(afterBoth(at("FAILED"), [{ name: "retry" }, refused], [{ name: "retry" }, ok], calm)).to.not.deep.equal([]);
    expect(afterBoth(at("FAILED"), [{ name: "retry" }, refused], [{ name: "retry" }, refused], calm)).to.deep.equal([]);
  });

  it("explains two retries at once that are both refused after the upgrade was given up", () => {
    const refused = notPossible("COMPLETED_WITH_FAILURE");
    const places = afterBoth(at("GIVEN_UP"), [{ name: "retry" }, refused], [{ name: "retry" }, refused], calm);
    expect(phases(places)).to.deep.equal(["GIVEN_UP"]);
  });

  it("explains any two answers at once that it explains one after the other", () => {
    const requests = (["commit", "pause", "resume", "retry", "resolve", "cancel", "prechecks"] as const).map(
      (name) => ({
        name,
      }),
    );
    const states = ["DRAFT", "PENDING", "INPROGRESS", "SCHEDULED", "PAUSED"];
    const ends = ["COMPLETED_WITH_SUCCESS", "COMPLETED_WITH_FAILURE", "CANCELLED"];
    const answers = [ok, { status: 202 }, ...[...states, ...ends].map(notPossible)];
    const explained = (places: Place[], request: Request) =>
      answers.flatMap((answer) => {
        const next = after(places, request, answer, failing);
        return next.length > 0 ? [[request, answer, next] as const] : [];
      });
    let pairs = 0;
    for (const phase of everyPhase)
      for (const [one, answer, next] of requests.flatMap((request) => explained(at(phase), request)))
        for (const [other, later] of requests.flatMap((request) => explained(next, request))) {
          const places = afterBoth(at(phase), [one, answer], [other, later], failing);
          expect(places, JSON.stringify({ phase, one, answer, other, later })).to.not.deep.equal([]);
          pairs++;
        }
    expect(pairs).to.be.greaterThan(everyPhase.length * requests.length);
  });

  it("takes a request without an answer to have had its effect, or not, until a later one is accepted", () => {
    const lost = after(at("RUNNING"), { name: "pause" }, undefined, calm);
    expect(phases(lost)).to.deep.equal(["PAUSED", "RUNNING", "SUCCESSFUL"]);
    const known = after(lost, { name: "pause" }, ok, calm);
    expect(phases(known)).to.deep.equal(["PAUSED", "SUCCESSFUL"]);
    expect(after(known, { name: "pause" }, ok, calm)).to.deep.equal([]);
  });

  it("takes a cancellation without an answer to have its effect also after a later request was answered", () => {
    const lost = after(at("SCHEDULED"), { name: "cancel" }, undefined, calm);
    const committed = after(lost, { name: "commit", due: "NOW" }, ok, calm);
    expect(phases(seen(committed, { task: "Cancelled" }, calm))).to.deep.equal(["CANCELLED"]);
    const cancelledAgain = after(committed, { name: "cancel" }, ok, calm);
    expect(phases(seen(cancelledAgain, { task: "Cancelled" }, calm))).to.deep.equal(["CANCELLED"]);
    const pause = after(at("RUNNING"), { name: "pause" }, undefined, calm);
    const known = after(pause, { name: "pause" }, ok, calm);
    expect(phases(seen(known, { task: "Cancelled" }, calm)), "nobody has cancelled").to.deep.equal([]);
  });

  it("takes a retry or a commit without an answer to have its effect after what came with it was refused", () => {
    const failed = "COMPLETED_WITH_FAILURE";
    const cases = [
      { phase: "FAILED", lost: "retry", later: ["commit", "pause", "retry", "resolve"], state: failed },
      { phase: "DRAFT_READY", lost: "commit", later: ["pause", "resume", "retry", "prechecks"], state: "DRAFT" },
    ] as const;
    for (const { phase, lost, later, state } of cases)
      for (const name of later) {
        const places = after(after(at(phase), { name: lost }, undefined, calm), { name }, notPossible(state), calm);
        expect(phases(seen(places, { upgrade: "INPROGRESS" }, calm)), name).to.include("RUNNING");
        const refusedAlone = after(at(phase), { name }, notPossible(state), calm);
        expect(seen(refusedAlone, { upgrade: "INPROGRESS" }, calm), `${name} alone`).to.deep.equal([]);
      }
    const twice = after(after(at("DRAFT_READY"), { name: "commit" }, undefined, calm), { name: "commit" }, ok, calm);
    expect(seen(twice, { upgrade: "DRAFT" }, calm), "a commit that was answered has its effect").to.deep.equal([]);
  });

  it("explains a draft that is committed once its finding is acknowledged", () => {
    const places = after(at("DRAFT_REFUSED"), { name: "acknowledge", finding }, ok, failing);
    expect(phases(after(places, { name: "commit" }, ok, failing))).to.include("RUNNING");
  });

  it("explains a failure by its cause, a retry of it, and that it is given up", () => {
    const failed = seen(at("RUNNING"), { task: "Failed", resolution: "UNRESOLVED" }, failing);
    expect(phases(failed)).to.deep.equal(["FAILED"]);
    expect(phases(after(failed, { name: "retry" }, ok, calm))).to.include("SUCCESSFUL");
    expect(phases(after(failed, { name: "resolve" }, ok, calm))).to.deep.equal(["GIVEN_UP"]);
  });
});
