import type { TaskStatus } from "../../../src/domain/spec/task";
import type { UpgradeStatus } from "../../../src/domain/spec/upgrade";
import type { Answered } from "./answered";

/**
 * A model of one upgrade as its operators see it, written from the specification and docs (spec-gaps.md, upgrades.md, operating.md)
 * and not from the service's code: where it can be, what it may answer to a request, what may become of it by itself.
 * What cannot be known is a set of places; an answer or a read that no place explains is a defect.
 */
export type Phase =
  | "DRAFT_CHECKING"
  | "DRAFT_READY"
  | "DRAFT_REFUSED"
  | "ACCEPTED"
  | "RUNNING"
  | "SCHEDULED"
  | "PAUSED"
  | "SUCCESSFUL"
  | "SUCCESSFUL_WITH_WARNING"
  | "SKIPPED"
  | "FAILED"
  | "GIVEN_UP"
  | "CANCELLED";

/** When the upgrade may begin: now, in a moment, or not while anybody watches. */
export type Due = "NOW" | "SOON" | "LATER";

export type RequestName =
  "commit" | "pause" | "resume" | "retry" | "resolve" | "cancel" | "prechecks" | "skip" | "skipCluster" | "acknowledge";

/** A finding that an operator has read, and of which run of the prechecks. */
export interface ReadFinding {
  readonly run: number;
  readonly code: string;
  readonly hostId?: string;
  readonly subject?: string;
}

/** Something that an operator asks of an upgrade; `due` is the time that a commit gives. */
export interface Request {
  readonly name: RequestName;
  readonly due?: Due;
  /** The host that a skip leaves out. */
  readonly host?: string;
  /** What is acknowledged; absent where the operator has read of nothing, and asks all the same. */
  readonly finding?: ReadFinding;
}

/** A place where an upgrade can be. */
export interface Place {
  readonly phase: Phase;
  readonly due: Due;
  /** Somebody has cancelled it, and it is on its way to its safe end. */
  readonly cancelling: boolean;
  /** The commit that takes effect when the prechecks of the draft have passed, or in a moment. */
  readonly commit?: Due;
  /** A retry that takes effect in a moment. */
  readonly retried?: boolean;
  /** Requests whose answers were lost: each may still have its effect, once. */
  readonly lost: readonly Request[];
}

/** What of the world around an upgrade decides where it may go by itself. */
export interface Circumstances {
  /** A host of its cluster fails oftener than the failure action allows, its prechecks fail, or another upgrade is in its way. */
  readonly mayFail: boolean;
  /** Its prechecks may fail. */
  readonly checksMayFail: boolean;
  /** Another upgrade may hold its cluster. */
  readonly mayBeHeld: boolean;
  /** Its operator holds its cluster. */
  readonly isOnHold: boolean;
  /** A host may be left out, for it is held or an operator has said so. */
  readonly mayLeaveOut: boolean;
  /** Another upgrade may have brought its hosts to the target. */
  readonly maySkip: boolean;
}

type Step = readonly [answer: Answered, next: Place];

/** Task and Upgrade always tell of the same phase (spec-gaps.md, States). */
const told: Readonly<Record<Phase, { readonly task: readonly TaskStatus[]; readonly upgrade: UpgradeStatus }>> = {
  DRAFT_CHECKING: { task: ["Pending", "In Progress"], upgrade: "DRAFT" },
  DRAFT_READY: { task: ["Pending"], upgrade: "DRAFT" },
  DRAFT_REFUSED: { task: ["Pending"], upgrade: "DRAFT" },
  ACCEPTED: { task: ["Pending"], upgrade: "PENDING" },
  RUNNING: { task: ["In Progress"], upgrade: "INPROGRESS" },
  SCHEDULED: { task: ["Pending"], upgrade: "SCHEDULED" },
  PAUSED: { task: ["In Progress"], upgrade: "PAUSED" },
  SUCCESSFUL: { task: ["Successful"], upgrade: "COMPLETED_WITH_SUCCESS" },
  SUCCESSFUL_WITH_WARNING: { task: ["COMPLETED_WITH_WARNING"], upgrade: "COMPLETED_WITH_SUCCESS" },
  SKIPPED: { task: ["SKIPPED"], upgrade: "COMPLETED_WITH_SUCCESS" },
  FAILED: { task: ["Failed"], upgrade: "COMPLETED_WITH_FAILURE" },
  GIVEN_UP: { task: ["Failed"], upgrade: "COMPLETED_WITH_FAILURE" },
  CANCELLED: { task: ["Cancelled"], upgrade: "CANCELLED" },
};

/** Phases of a draft that is not committed. */
export const drafts: readonly Phase[] = ["DRAFT_READY", "DRAFT_CHECKING", "DRAFT_REFUSED"];
/** Phases that are never left. */
const final: ReadonlySet<Phase> = new Set([
  "SUCCESSFUL",
  "SUCCESSFUL_WITH_WARNING",
  "SKIPPED",
  "GIVEN_UP",
  "CANCELLED",
]);
/** Phases in which an upgrade holds its cluster, or is about to. */
const holding: ReadonlySet<Phase> = new Set(["ACCEPTED", "RUNNING", "SCHEDULED", "PAUSED"]);

export const isFinal = (places: readonly Place[]) => places.every(({ phase }) => final.has(phase));

/** Whether it may hold its cluster, or come to hold it by a request whose answer was lost. */
export const mayHold = (places: readonly Place[]) =>
  places.some(({ phase, commit, lost }) => holding.has(phase) || commit !== undefined || lost.length > 0);

/** Where an upgrade is when it has just been accepted. */
export function begun(draft: boolean, due: Due): Place[] {
  return [{ phase: draft ? "DRAFT_CHECKING" : "ACCEPTED", due, cancelling: false, lost: [] }];
}

/** All places that it may have come to by itself. */
export function byItself(places: readonly Place[], circumstances: Circumstances): Place[] {
  const known = new Map<string, Place>();
  const open = [...places];
  for (let place = open.pop(); place; place = open.pop()) {
    const key = JSON.stringify(place);
    if (known.has(key)) continue;
    known.set(key, place);
    open.push(...nextByItself(place, circumstances));
  }
  return [...known.values()];
}

function nextByItself(place: Place, circumstances: Circumstances): Place[] {
  const late = place.lost.flatMap((request, i) => {
    const rest = { ...place, lost: place.lost.toSpliced(i, 1) };
    return [...requested(rest, request, circumstances).map(([, next]) => next), ...received(rest, request)];
  });
  if (place.cancelling) return [...late, ...moved(place, circumstances), to(place, "CANCELLED")];
  return [...late, ...moved(place, circumstances), ...ended(place, circumstances)];
}

/**
 * A Workflow that nobody ran for a while has all its requests at once, and goes on when it has judged them: those that
 * come with a commit or a retry find the draft, or the failure, that it was for.
 */
function received(place: Place, request: Request): Place[] {
  if (place.cancelling) return [];
  if (request.name === "retry" && place.phase === "FAILED") return [{ ...place, retried: true }];
  if (request.name === "commit" && place.phase === "DRAFT_READY")
    return [{ ...place, commit: request.due ?? place.due }];
  return [];
}

/** Where work goes on to, short of its end. */
function moved(place: Place, { checksMayFail }: Circumstances): Place[] {
  switch (place.phase) {
    case "DRAFT_CHECKING": {
      const { commit, ...rest } = place;
      const passed = commit === undefined ? to(rest, "DRAFT_READY") : to({ ...rest, due: commit }, "ACCEPTED");
      return checksMayFail ? [passed, to(rest, "DRAFT_REFUSED")] : [passed];
    }
    case "DRAFT_READY": {
      const { commit, ...rest } = place;
      return commit === undefined ? [] : [to({ ...rest, due: commit }, "ACCEPTED")];
    }
    case "FAILED": {
      const { retried, ...rest } = place;
      return retried ? [to(rest, "ACCEPTED")] : [];
    }
    case "ACCEPTED":
      // Prechecks run before the wait for its time.
      return [to(place, "RUNNING"), ...(place.due === "NOW" ? [] : [to(place, "SCHEDULED")])];
    case "RUNNING":
      return place.due === "NOW" ? [] : [to(place, "SCHEDULED")];
    case "SCHEDULED":
      return place.due === "LATER" ? [] : [to({ ...place, due: "NOW" }, "RUNNING")];
    default:
      return [];
  }
}

/** How work ends, where nobody has cancelled it. */
function ended(place: Place, { mayFail, maySkip, mayLeaveOut }: Circumstances): Place[] {
  const begins = place.due !== "LATER";
  switch (place.phase) {
    case "RUNNING":
    case "PAUSED":
      return [
        ...(begins ? [to(place, "SUCCESSFUL")] : []),
        ...(begins && maySkip ? [to(place, "SKIPPED")] : []),
        ...(begins && mayLeaveOut ? [to(place, "SUCCESSFUL_WITH_WARNING")] : []),
        ...(mayFail ? [to(place, "FAILED")] : []),
      ];
    case "ACCEPTED":
    // It says so from the beginning, also while its prechecks run.
    case "SCHEDULED":
      return mayFail ? [to(place, "FAILED")] : [];
    default:
      return [];
  }
}

const to = (place: Place, phase: Phase): Place => ({ ...place, phase });

/** What a request may be answered in a place, and where the upgrade is then. */
function requested(place: Place, request: Request, circumstances: Circumstances): Step[] {
  const { phase, cancelling } = place;
  const isUndecided = phase === "FAILED" && !place.retried;
  const isUncommitted = (phase === "DRAFT_READY" && place.commit === undefined) || phase === "DRAFT_REFUSED";
  const ok = (next: Place): Step => [{ status: request.name === "prechecks" ? 202 : 200 }, next];
  const refused: Step = [{ status: 409, code: "REQUEST_NOT_POSSIBLE", state: told[phase].upgrade }, place];
  if (request.name === "cancel") return cancelled(place, circumstances);
  // Nothing is committed of a cluster that is held (operating.md, Holds); where nothing is there to commit, either may be said.
  if (request.name === "commit" && circumstances.isOnHold) {
    const onHold: Step = [{ status: 403, code: "RESOURCE_HELD" }, place];
    return drafts.includes(phase) && !cancelling
      ? [onHold, ...locked(), ...checksFailed()]
      : [onHold, ...locked(), ...ofOthers()];
  }
  // A scheduled upgrade has no locks yet where its time is far.
  return [...locked(), ...ofOthers()];

  function locked(): Step[] {
    const mayLock = request.name === "commit" && (drafts.includes(phase) || phase === "SCHEDULED");
    return mayLock && circumstances.mayBeHeld ? [[{ status: 409, code: "RESOURCE_LOCKED" }, place]] : [];
  }

  function checksFailed(): Step[] {
    return phase === "DRAFT_REFUSED" ? [[{ status: 409, code: "PRECHECKS_FAILED" }, place]] : [];
  }

  function ofOthers(): Step[] {
    if (cancelling) return [refused];
    switch (request.name) {
      case "commit":
        return committed();
      case "pause":
        return phase === "RUNNING" ? [ok(to(place, "PAUSED"))] : [refused];
      case "resume":
        return phase === "PAUSED" ? [ok(to(place, "RUNNING"))] : [refused, ...endedMeanwhile()];
      case "retry":
        return isUndecided ? [ok(to(place, "ACCEPTED"))] : [refused, ...endedMeanwhile()];
      case "resolve":
        return isUndecided ? [ok(to(place, "GIVEN_UP"))] : [refused];
      case "prechecks":
        return isUncommitted ? [ok(to(place, "DRAFT_CHECKING"))] : [refused];
      case "skip":
        return skipped();
      case "skipCluster":
        return clusterSkipped();
      case "acknowledge":
        return acknowledged();
      default:
        return [];
    }
  }

  /** A host is left out before it begins, or once it has failed (upgrades.md, Leave out). */
  function skipped(): Step[] {
    const over: Step = [{ status: 409, code: "REQUEST_NOT_POSSIBLE" }, place];
    if (final.has(phase)) return [over];
    const inWork: Step = [{ status: 409, code: "HOST_IN_WORK" }, place];
    const mayBeInWork = phase === "RUNNING" || phase === "PAUSED";
    // What its prechecks have failed for may be left out with it.
    const mended = phase === "DRAFT_REFUSED" ? [ok(to(place, "DRAFT_READY"))] : [];
    return [ok(place), ...mended, ...(mayBeInWork ? [over, inWork, ...endedMeanwhile()] : [])];
  }

  /** An upgrade keeps its only cluster (error-codes.md, NO_CLUSTER_LEFT). */
  function clusterSkipped(): Step[] {
    const over: Step = [{ status: 409, code: "REQUEST_NOT_POSSIBLE" }, place];
    if (final.has(phase)) return [over];
    const noneLeft: Step = [{ status: 409, code: "NO_CLUSTER_LEFT" }, place];
    const inWork: Step = [{ status: 409, code: "RESOURCE_IN_WORK" }, place];
    return [noneLeft, ...(phase === "RUNNING" || phase === "PAUSED" ? [over, inWork] : [])];
  }

  /** A finding is accepted until the upgrade ends, if its latest prechecks have it (upgrades.md, Acknowledge a finding). */
  function acknowledged(): Step[] {
    const unknown = (["FINDING_NOT_FOUND", "PRECHECK_NOT_FOUND"] as const).map((code): Step => [
      { status: 404, code },
      place,
    ]);
    if (final.has(phase)) return [refused, ...unknown];
    if (!request.finding) return unknown;
    // The prechecks may have run again since they were read.
    const outdated: Step = [{ status: 409, code: "PRECHECKS_SUPERSEDED" }, place];
    const mended = phase === "DRAFT_REFUSED" ? [ok(to(place, "DRAFT_READY"))] : [];
    return [ok(place), ...mended, outdated, ...unknown];
  }

  function committed(): Step[] {
    const due = request.due ?? place.due;
    switch (phase) {
      case "DRAFT_CHECKING":
        return [ok({ ...place, commit: request.due ?? place.commit ?? place.due })];
      case "DRAFT_READY": {
        const { commit, ...rest } = place;
        return [ok({ ...to(rest, "ACCEPTED"), due: request.due ?? commit ?? place.due })];
      }
      case "DRAFT_REFUSED":
        return checksFailed();
      case "ACCEPTED":
      case "SCHEDULED":
        return [ok({ ...place, due })];
      default:
        return [refused, ...endedMeanwhile()];
    }
  }

  /** An upgrade that succeeds between a request and its outcome counts as having accepted it (spec-gaps.md, an upgrade that has ended). */
  function endedMeanwhile(): Step[] {
    if (phase !== "RUNNING" && phase !== "PAUSED") return [];
    return ended(place, { ...circumstances, mayFail: false }).map((next) => ok(next));
  }
}

function cancelled(place: Place, { mayFail }: Circumstances): Step[] {
  const { phase, cancelling } = place;
  const refused: Step = [{ status: 409, code: "REQUEST_NOT_POSSIBLE", state: told[phase].upgrade }, place];
  if (final.has(phase)) return [refused];
  if (phase === "FAILED") return place.retried ? [refused] : [[{ status: 200 }, to(place, "GIVEN_UP")]];
  const accepted: Step = [{ status: 200 }, { ...place, cancelling: true }];
  if (cancelling || !mayFail || !holding.has(phase)) return [accepted];
  // One that fails at that moment is given up by it (spec-gaps.md, cancel).
  const givenUp = to(place, "GIVEN_UP");
  const tooLate = { status: 409, code: "REQUEST_NOT_POSSIBLE", state: told.GIVEN_UP.upgrade };
  return [accepted, [{ status: 200 }, givenUp], [tooLate, givenUp]];
}

/**
 * The places that explain an answer; none where nothing does. An answer that was lost (undefined) explains itself: the
 * request may have its effect at any later time, until a later request is accepted, which Temporal orders after it; what is
 * refused may not have been sent to the upgrade, but judged by what it has published. A cancellation comes to a Workflow after the Signals that came later, where it has them in one Workflow task.
 */
export function after(
  places: readonly Place[],
  request: Request,
  answer: Answered | undefined,
  circumstances: Circumstances,
): Place[] {
  const before = byItself(places, circumstances);
  const stillLost = (lost: readonly Request[]) => {
    if (answer === undefined || answer.status >= 300) return lost;
    return request.name === "cancel" ? [] : lost.filter(isCancellation);
  };
  if (!answer)
    return byItself(
      [...before, ...before.map((place) => ({ ...place, lost: [...place.lost, request] }))],
      circumstances,
    );
  const explained = before
    .flatMap((place) => requested(place, request, circumstances))
    .filter(([expected]) => agrees(expected, answer))
    .map(([, next]) => ({ ...next, lost: stillLost(next.lost) }));
  return byItself(explained, circumstances);
}

const isCancellation = ({ name }: Request) => name === "cancel";

function agrees(expected: Answered, { status, code, state }: Answered): boolean {
  return expected.status === status && expected.code === code && (expected.state ?? state) === state;
}

/** The places that explain the answers to two requests that were sent at the same time: in one order or the other. */
export function afterBoth(
  places: readonly Place[],
  one: readonly [Request, Answered | undefined],
  other: readonly [Request, Answered | undefined],
  circumstances: Circumstances,
): Place[] {
  const inOrder = (first: typeof one, [request, answer]: typeof one) => {
    const then = after(places, ...first, circumstances);
    const isAfterRetry = first[0].name === "retry";
    const judged = (asked: Request): Place[] => {
      const places = after(then, asked, answer, circumstances);
      // A decision that comes at the very moment of a retry is refused before the upgrade has gone on from its failure.
      const isLate = isAfterRetry && (asked.name === "retry" || asked.name === "resolve");
      if (!isLate || answer?.state !== told.FAILED.upgrade) return places;
      return [...places, ...after(then, asked, { ...answer, state: told.ACCEPTED.upgrade }, circumstances)];
    };
    // A cancellation that finds a failed upgrade gives it up, which comes too late where a retry was first.
    const isGivingUp = isAfterRetry && request.name === "cancel";
    return [...judged(request), ...(isGivingUp ? judged({ name: "resolve" }) : [])];
  };
  return byItself([...inOrder(one, other), ...inOrder(other, one)], circumstances);
}

/** The places that explain what was read; none where nothing does. */
export function seen(
  places: readonly Place[],
  read: { readonly task?: string; readonly upgrade?: string; readonly resolution?: string },
  circumstances: Circumstances,
): Place[] {
  return byItself(places, circumstances).filter(({ phase }) => {
    const { task, upgrade } = told[phase];
    return (
      (read.task === undefined || task.some((one) => one === read.task)) &&
      (read.upgrade === undefined || upgrade === read.upgrade) &&
      (read.resolution === undefined || phase !== (read.resolution === "RESOLVED" ? "FAILED" : "GIVEN_UP"))
    );
  });
}

/** What the model takes to be possible, in words. */
export function inWords(places: readonly Place[], circumstances: Circumstances): string {
  const all = byItself(places, circumstances).map(({ phase, due, cancelling }) =>
    [phase, ...(due === "NOW" ? [] : [due]), ...(cancelling ? ["being cancelled"] : [])].join(" "),
  );
  return [...new Set(all)].join(" | ");
}
