import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "./codec";
import type { ErrorBody } from "./error-body";
import { hostStages, type HostProgress, type HostResult, type HostStageType } from "./host-remediation";
import type { Stage } from "./task";

/** How far one of several hosts is; each is one letter in {@link HostsProgress}. */
export const hostPhases = {
  WAITING: "w",
  ENTERING_MAINTENANCE: "m",
  REMEDIATING: "r",
  RECONNECTING: "c",
  EXITING_MAINTENANCE: "x",
  /** Failed, and to be tried again. */
  FAILED_ONCE: "t",
  UPGRADED: "U",
  ALREADY_AT_TARGET: "A",
  FAILED: "F",
  /** Not upgraded, because the upgrade was cancelled. */
  STOPPED: "S",
} as const;
export type HostPhase = keyof typeof hostPhases;

const phaseOfLetter = new Map(
  Object.entries(hostPhases).map(([phase, letter]) => [letter as string, phase as HostPhase]),
);

/** A failure that some of the hosts have in common. `hosts` are their places in the input. */
export const HostsFailure = model(
  {
    code: t.string,
    /** What is wrong, as it goes on after the host's name. */
    what: t.string,
    stage: OneOf(...(Object.keys(hostStages) as HostStageType[])),
    hosts: t.array(WholeNumber),
  },
  {},
);
export type HostsFailure = t.TypeOf<typeof HostsFailure>;

/**
 * What is known of several hosts that are remediated together: the heartbeat details of `remediateHosts`. Hosts are
 * told by their place in the input, one letter and one small number each, and failures are told once for all the hosts
 * that have them: so 96 hosts take about 500 bytes of the 4 KiB that a failure of an Activity holds.
 */
export const HostsProgress = model(
  {
    /** One sentence on what happens now, for the operator. */
    activity: t.string,
    /** A letter of {@link hostPhases} for each host. */
    phases: t.string,
    /** For each host the failures that the component manager reported; only these use up attempts. */
    failures: t.array(WholeNumber),
    /** The last failure of each host that has one. */
    failed: t.array(HostsFailure),
    /** When this attempt began. */
    began: t.string,
  },
  {
    /** The component manager's id of the running remediation, to attach to again. */
    remoteTask: t.string,
    /** When this attempt asked, or was about to ask, for the remediation; tells an earlier result from ours. */
    requestedAt: t.string,
    /** How many reported failures each host may have in all. */
    maximumAttempts: WholeNumber,
    /** How far the component manager is with what happens now, 0 to 100. */
    percent: WholeNumber,
  },
);
export type HostsProgress = t.TypeOf<typeof HostsProgress>;

/** How several hosts ended. Every host of the input is in one of the lists. */
export interface HostsResult {
  readonly upgraded: readonly HostResult[];
  readonly failed: readonly FailedHost[];
  /** Ids of hosts that were not upgraded because the upgrade was cancelled. */
  readonly stopped: readonly string[];
}

export interface FailedHost {
  readonly host: string;
  readonly error: ErrorBody;
  readonly stages: Stage[];
}

/** The phase of the host at a place of the input. */
export function phaseOf({ phases }: HostsProgress, place: number): HostPhase {
  return phaseOfLetter.get(phases.charAt(place)) ?? "WAITING";
}

/** The last failure of the host at a place of the input. */
export function failureAt({ failed }: HostsProgress, place: number): HostsFailure | undefined {
  return failed.find(({ hosts }) => hosts.includes(place));
}

/** How many stages of a host are done in each phase, and whether the next is under way. */
const stagesDone: Record<HostPhase, { readonly done: number; readonly next?: Stage["status"] }> = {
  WAITING: { done: 0 },
  ENTERING_MAINTENANCE: { done: 1, next: "IN_PROGRESS" },
  REMEDIATING: { done: 1, next: "IN_PROGRESS" },
  RECONNECTING: { done: 2, next: "IN_PROGRESS" },
  EXITING_MAINTENANCE: { done: 3, next: "IN_PROGRESS" },
  FAILED_ONCE: { done: 0 },
  UPGRADED: { done: 4 },
  ALREADY_AT_TARGET: { done: 1 },
  FAILED: { done: 0 },
  STOPPED: { done: 0 },
};

/** The stages of one of several hosts; what has ended did so at `at` as far as is known. */
export function stagesOfHost(progress: HostsProgress, place: number, at: string): Stage[] {
  const phase = phaseOf(progress, place);
  const types = Object.keys(hostStages) as HostStageType[];
  const failure = phase === "FAILED" || phase === "FAILED_ONCE" ? failureAt(progress, place) : undefined;
  const done = failure ? types.indexOf(failure.stage) : stagesDone[phase].done;
  const next = failure ? "FAILED" : stagesDone[phase].next;
  const shown = phase === "ALREADY_AT_TARGET" ? types.slice(0, 1) : types;
  return shown.map((type, i): Stage => {
    const status = i < done ? "SUCCESSFUL" : i === done && next ? next : "PENDING";
    const hasEnded = status === "SUCCESSFUL" || status === "FAILED";
    return {
      name: hostStages[type],
      type,
      description: hostStages[type],
      status,
      creationTimestamp: progress.began,
      ...(hasEnded && { completionTimestamp: at }),
    };
  });
}

/** One of several hosts as if it were remediated alone, for its SubTask. */
export function progressOfHost(progress: HostsProgress, host: string, place: number, at: string): HostProgress {
  const { maximumAttempts, percent } = progress;
  return {
    host,
    reportedFailures: progress.failures[place] ?? 0,
    activity: phaseTexts[phaseOf(progress, place)],
    stages: stagesOfHost(progress, place, at),
    ...(maximumAttempts !== undefined && { maximumAttempts }),
    ...(percent !== undefined && phaseOf(progress, place) === "REMEDIATING" && { percent }),
  };
}

const phaseTexts: Record<HostPhase, string> = {
  WAITING: "Waiting to begin.",
  ENTERING_MAINTENANCE: "Entering maintenance mode.",
  REMEDIATING: "The component manager remediates the host.",
  RECONNECTING: "Waiting until the host is connected and verified.",
  EXITING_MAINTENANCE: "Leaving maintenance mode.",
  FAILED_ONCE: "Failed; it is tried again.",
  UPGRADED: "Upgraded.",
  ALREADY_AT_TARGET: "At the target already.",
  FAILED: "Failed.",
  STOPPED: "Not upgraded: cancelled before.",
};
