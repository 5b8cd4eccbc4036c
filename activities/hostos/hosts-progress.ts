import { isRight } from "fp-ts/Either";
import type { ErrorBody } from "../../src/domain/error-body";
import type { HostResult, HostStageType } from "../../src/domain/host-remediation";
import {
  failureAt,
  HostsProgress,
  hostPhases,
  phaseOf,
  stagesOfHost,
  type HostPhase,
  type HostsResult,
} from "../../src/domain/hosts-remediation";
import { toTimestamp } from "../../src/domain/timestamp";
import type { RemediateHostsInput } from "../contract";
import { bounded } from "../drivers/driver-error";
import { isReportedCode, remediationOf } from "./reported-failure";

/** Phases in which a host needs nothing more in this attempt. */
const settled: ReadonlySet<HostPhase> = new Set(["UPGRADED", "ALREADY_AT_TARGET", "FAILED", "STOPPED", "FAILED_ONCE"]);

const now = () => toTimestamp(Date.now());

/** What earlier runs have left, whichever source knows of more failures; undefined where this is the first run. */
export function knownHostsProgress(
  heartbeatDetails: unknown,
  resume: HostsProgress | undefined,
): HostsProgress | undefined {
  const decoded = HostsProgress.decode(heartbeatDetails);
  const own = isRight(decoded) ? decoded.right : undefined;
  if (!own || !resume) return own ?? resume;
  const sum = ({ failures }: HostsProgress) => failures.reduce((a, b) => a + b, 0);
  return sum(resume) > sum(own) ? resume : own;
}

/** The progress of several hosts while their Activity runs; every change is told at once. */
export class HostsProgressTracker {
  #progress: HostsProgress;
  readonly #input: RemediateHostsInput;
  readonly #beat: (progress: HostsProgress) => void;

  /** Goes on with the attempt that `known` tells of. Where that has ended, its failed hosts wait for the next one. */
  constructor(input: RemediateHostsInput, known: HostsProgress | undefined, beat: (progress: HostsProgress) => void) {
    this.#input = input;
    this.#beat = beat;
    const fresh: HostsProgress = {
      activity: "Starting.",
      phases: hostPhases.WAITING.repeat(input.hosts.length),
      failures: input.hosts.map(() => 0),
      failed: [],
      began: now(),
      maximumAttempts: input.attempts.maximumAttempts,
    };
    if (!known || known.phases.length !== input.hosts.length) {
      this.#progress = fresh;
      return;
    }
    const attemptHasEnded = input.hosts.every((_, place) => settled.has(phaseOf(known, place)));
    this.#progress = attemptHasEnded
      ? {
          ...known,
          activity: "Trying again after a failure.",
          phases: known.phases.replaceAll(hostPhases.FAILED_ONCE, hostPhases.WAITING),
          began: now(),
        }
      : known;
  }

  get current(): HostsProgress {
    return this.#progress;
  }

  /** When this attempt began, by this machine's clock, in epoch milliseconds. */
  get began(): number {
    return Date.parse(this.#progress.began) || Date.now();
  }

  /** Places of the hosts in one of these phases. */
  inPhase(...phases: HostPhase[]): number[] {
    return this.#input.hosts.flatMap((_, place) => (phases.includes(phaseOf(this.#progress, place)) ? [place] : []));
  }

  /** Puts hosts into a phase. */
  move(places: readonly number[], phase: HostPhase): void {
    if (places.length === 0) return;
    const letters = Array.from(this.#progress.phases);
    for (const place of places) letters[place] = hostPhases[phase];
    this.#change({ phases: letters.join("") });
  }

  /** Tells the operator what goes on, and how far it is (0 to 100) where that is known. */
  note(activity: string, percent?: number): void {
    this.#change({ activity: bounded(activity, 300), ...(percent !== undefined && { percent }) });
  }

  /** Before the remediation is asked for: whatever becomes of the request, the next run knows that there was one. */
  intend(requestedAt: number): void {
    this.#change({ requestedAt: toTimestamp(requestedAt), activity: "Requesting the remediation." });
  }

  /** The remediation runs as this task of the component manager. */
  attach(remoteTask: string): void {
    this.#change({ remoteTask, requestedAt: this.#progress.requestedAt ?? toTimestamp(this.began) });
  }

  /** The task tells nothing more: it has ended, is not known any more, or was somebody else's. */
  detach(): void {
    const { remoteTask: _, ...rest } = this.#progress;
    this.#progress = rest;
    this.#beat(rest);
  }

  /** The request was refused, or all that it did is known: what was known before it holds again. */
  retract(requestedAt?: string): void {
    const { requestedAt: _, ...rest } = this.#progress;
    this.#progress = { ...rest, ...(requestedAt !== undefined && { requestedAt }) };
    this.#beat(this.#progress);
  }

  /**
   * A host has failed. It is tried again in the next attempt where it has one left, unless `final`. `what` goes on
   * after the host's name.
   */
  fail(place: number, failure: { code: string; what: string; stage: HostStageType; final?: boolean }): void {
    const { code, what, stage, final = false } = failure;
    const failures = this.#progress.failures.map((count, i) => count + (i === place && !final ? 1 : 0));
    const isLast = final || (failures[place] ?? 0) >= this.#input.attempts.maximumAttempts;
    const text = bounded(what, 300);
    const others = this.#progress.failed
      .map((group) => ({ ...group, hosts: group.hosts.filter((host) => host !== place) }))
      .filter(({ hosts }) => hosts.length > 0);
    const same = others.find((group) => group.code === code && group.what === text && group.stage === stage);
    const failed = same
      ? others.map((group) => (group === same ? { ...group, hosts: [...group.hosts, place] } : group))
      : [...others, { code, what: text, stage, hosts: [place] }];
    this.#progress = { ...this.#progress, failures, failed };
    this.move([place], isLast ? "FAILED" : "FAILED_ONCE");
  }

  /** More to tell of a host that has failed. */
  addToFailure(place: number, sentence: string): void {
    const known = failureAt(this.#progress, place);
    if (!known || known.what.endsWith(sentence)) return;
    const others = this.#progress.failed
      .map((group) => ({ ...group, hosts: group.hosts.filter((host) => host !== place) }))
      .filter(({ hosts }) => hosts.length > 0);
    const what = `${bounded(known.what, 260)} ${sentence}`;
    const same = others.find((group) => group.code === known.code && group.what === what);
    this.#change({
      failed: same
        ? others.map((group) => (group === same ? { ...group, hosts: [...group.hosts, place] } : group))
        : [...others, { ...known, what, hosts: [place] }],
    });
  }

  /** Nothing is left to try: how every host ended. */
  result(version: string): HostsResult {
    const at = now();
    const hostOf = (place: number) => this.#input.hosts[place]?.host ?? "";
    const resultOf =
      (outcome: HostResult["outcome"]) =>
      (place: number): HostResult => ({
        host: hostOf(place),
        outcome,
        version,
        stages: stagesOfHost(this.#progress, place, at),
      });
    return {
      upgraded: [
        ...this.inPhase("UPGRADED").map(resultOf("UPGRADED")),
        ...this.inPhase("ALREADY_AT_TARGET").map(resultOf("ALREADY_AT_TARGET")),
      ],
      failed: this.inPhase("FAILED", "FAILED_ONCE").map((place) => ({
        host: hostOf(place),
        error: this.errorOf(place),
        stages: stagesOfHost(this.#progress, place, at),
      })),
      stopped: this.inPhase("STOPPED", "WAITING").map(hostOf),
    };
  }

  /** The last failure of a host as clients see it. */
  errorOf(place: number): ErrorBody {
    const { cluster, hosts } = this.#input;
    const fqdn = hosts[place]?.fqdn ?? "";
    const { code, what } = failureAt(this.#progress, place) ?? { code: "HOST_REMEDIATION_FAILED", what: "failed." };
    return {
      errorCode: code,
      errorType: "FAILED_DEPENDENCY",
      message: `Host ${fqdn} ${what}`,
      remediationMessage: remediationOf(isReportedCode(code) ? code : "HOST_REMEDIATION_FAILED"),
      context: { cluster: cluster.name, host: fqdn, componentManager: cluster.componentManagerId },
    };
  }

  #change(change: Partial<HostsProgress>): void {
    // What was so far on its way says nothing of what comes next.
    const { percent: _, ...known } = this.#progress;
    this.#progress = { ...known, ...change };
    this.#beat(this.#progress);
  }
}
