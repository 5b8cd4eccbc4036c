import { isRight } from "fp-ts/Either";
import { type Clock, monotonicClock } from "../../src/clock";
import type { ErrorBody } from "../../src/domain/errors";
import {
  errorAt,
  failureAt,
  type HostPhase,
  hostPhases,
  type HostResult,
  type OutOfService,
  outOfServiceAt,
  phaseOf,
  type RemediationFailure,
  RemediationProgress,
  type RemediationResult,
  stageOfPhase,
  stagesOfHost,
} from "../../src/domain/task/host-remediation";
import { toTimestamp } from "../../src/domain/timestamp";
import type { RemediateHostsInput } from "../contract";
import { bounded } from "../drivers/driver-error";
import type { HostFailure } from "./remediation-errors";

/** Phases in which a host needs nothing more in this attempt. */
const settled: ReadonlySet<HostPhase> = new Set([
  ...(["UPGRADED", "ALREADY_AT_TARGET", "FAILED", "STOPPED", "HELD", "FAILED_ONCE"] as const),
]);

/** Characters of a failure that is told among those of other hosts. */
const sharedText = 300;

/** What earlier runs have left, whichever source knows of more failures; undefined where this is the first run. */
export function knownProgress(
  heartbeatDetails: unknown,
  resume: RemediationProgress | undefined,
): RemediationProgress | undefined {
  const decoded = RemediationProgress.decode(heartbeatDetails);
  const own = isRight(decoded) ? decoded.right : undefined;
  if (!own || !resume) return own ?? resume;
  const sum = ({ failures }: RemediationProgress) => failures.reduce((a, b) => a + b, 0);
  return sum(resume) > sum(own) ? resume : own;
}

/** The progress of hosts while their Activity runs, told at every change, and the one place that counts their attempts. */
export class RemediationTracker {
  #progress: RemediationProgress;
  readonly #input: RemediateHostsInput;
  readonly #beat: (progress: RemediationProgress) => void;
  readonly #clock: Pick<Clock, "timeOfDay">;
  /** What was known before the request that is being made. */
  #beforeIntent: Pick<RemediationProgress, "phases" | "requestedAt" | "inMaintenanceMode"> | undefined;
  /** The component manager's own words on failures of this run, by the places of the hosts. */
  readonly #causes = new Map<number, readonly string[]>();
  /** Why hosts are held, by their places, as this run has read it. */
  readonly #held = new Map<number, string>();

  /** Goes on with the attempt that `known` tells of. Where that has ended, its failed hosts wait for the next one. */
  constructor(
    input: RemediateHostsInput,
    known: RemediationProgress | undefined,
    beat: (progress: RemediationProgress) => void,
    clock: Pick<Clock, "timeOfDay"> = monotonicClock,
  ) {
    this.#input = input;
    this.#beat = beat;
    this.#clock = clock;
    const fresh: RemediationProgress = {
      kind: input.kind,
      activity: "Starting.",
      phases: hostPhases.WAITING.repeat(input.hosts.length),
      failures: input.hosts.map(() => 0),
      failed: [],
      began: this.#now(),
      entered: {},
      maximumAttempts: input.attempts.maximumAttempts,
    };
    if (!known || known.phases.length !== input.hosts.length) {
      this.#progress = fresh;
      return;
    }
    const { failures, failed, phases, inMaintenanceMode, vmsOff } = known;
    const attemptHasEnded = input.hosts.every((_, place) => settled.has(phaseOf(known, place)));
    this.#progress = attemptHasEnded
      ? {
          ...fresh,
          activity: "Retrying after a failure.",
          phases: phases.replaceAll(hostPhases.FAILED_ONCE, hostPhases.WAITING),
          failures,
          failed,
          ...(known.gatePassed && { gatePassed: true }),
          ...(inMaintenanceMode && { inMaintenanceMode }),
          ...(vmsOff && { vmsOff }),
        }
      : known;
  }

  get current(): RemediationProgress {
    return this.#progress;
  }

  #now(): string {
    return toTimestamp(this.#clock.timeOfDay());
  }

  /** When this attempt began, by this machine's clock, in epoch milliseconds. */
  get began(): number {
    return Date.parse(this.#progress.began) || this.#clock.timeOfDay();
  }

  /** Whether a host has failed in an attempt before this one. */
  get hasFailures(): boolean {
    return this.#progress.failures.some((count) => count > 0);
  }

  /** Whether nothing has been asked of the component manager, as far as this run knows. */
  get isUntouched(): boolean {
    const { remoteTask, requestedAt } = this.#progress;
    const { kind, hosts } = this.#input;
    // Maintenance mode alone is asked for without an intent, before a remediation by the image.
    const isLeftAlone =
      kind === "BASELINE" || this.inPhase("WAITING", "CHECK_COMPLIANCE", "REFUSED", "HELD").length === hosts.length;
    return remoteTask === undefined && requestedAt === undefined && isLeftAlone;
  }

  /** Whether the cluster has been found healthy before anything was asked for. */
  get hasPassedGate(): boolean {
    return this.#progress.gatePassed === true;
  }

  /** Told with the next heartbeat: there is one before every change, and until then it may be looked at once more. */
  passGate(): void {
    this.#progress = { ...this.#progress, gatePassed: true };
  }

  /** Whether every host has ended in this attempt. */
  get hasEnded(): boolean {
    return this.#input.hosts.every((_, place) => settled.has(phaseOf(this.#progress, place)));
  }

  /** Places of the hosts in one of these phases. */
  inPhase(...phases: HostPhase[]): number[] {
    return this.#input.hosts.flatMap((_, place) => (phases.includes(phaseOf(this.#progress, place)) ? [place] : []));
  }

  /** Whether the host at the first place is through with a stage in this attempt. */
  isPast(stage: HostPhase): boolean {
    const phase = phaseOf(this.#progress, 0);
    const [is, was] = [phase, stage].map((one) => stageOfPhase(this.#input.kind, one)?.index ?? -1);
    return phase === "UPGRADED" || (is ?? 0) > (was ?? 0);
  }

  /** Puts hosts into a phase; `activity` tells the operator of it. */
  enter(places: readonly number[], phase: HostPhase, activity?: string): void {
    if (places.length > 0)
      this.#change({ ...this.#entered(places, phase), ...(activity !== undefined && { activity }) });
  }

  /** Tells the operator what goes on, and how far it is (0 to 100) where that is known. */
  note(activity: string, percent?: number): void {
    this.#change({ activity: bounded(activity, 300), ...(percent !== undefined && { percent }) });
  }

  /** Hosts are about to be taken out of service in this way; told before it is asked for. */
  takeOut(places: readonly number[], how: keyof OutOfService): void {
    const known = this.#progress[how] ?? [];
    const added = places.filter((place) => !known.includes(place));
    if (added.length > 0) this.#set({ ...this.#progress, [how]: [...known, ...added] });
  }

  /** Of all hosts, those that are still out of service in this way. */
  stillOut(places: readonly number[], how: keyof OutOfService): void {
    const { [how]: known = [], ...rest } = this.#progress;
    if (known.length === 0 && places.length === 0) return;
    this.#set({ ...rest, ...(places.length > 0 && { [how]: [...places] }) });
  }

  /** When the host of a baseline-managed cluster had last started as this attempt began. */
  booted(bootTime: string): void {
    this.#change({ bootTime });
  }

  /**
   * Before something is asked for: whatever becomes of the request, the next run knows that there was one. `places` are
   * those of the hosts whose remediation it is, which puts them into maintenance mode.
   */
  intend(requestedAt: number, places: readonly number[] = []): void {
    const { phases, requestedAt: before, inMaintenanceMode } = this.#progress;
    this.#beforeIntent = {
      phases,
      ...(before !== undefined && { requestedAt: before }),
      ...(inMaintenanceMode && { inMaintenanceMode }),
    };
    const inside = [...new Set([...(inMaintenanceMode ?? []), ...places])];
    this.#change({
      ...this.#entered(places, "REMEDIATE"),
      ...(inside.length > 0 && { inMaintenanceMode: inside }),
      requestedAt: toTimestamp(requestedAt),
      activity: "Requesting the remediation.",
    });
  }

  /** The request was refused: nothing is known of it, and what was known before it holds again. */
  retract(): void {
    const { requestedAt: _, inMaintenanceMode: __, ...rest } = this.#progress;
    const { phases, ...before } = this.#beforeIntent ?? rest;
    this.#set({ ...rest, ...before, phases: phases.replaceAll(hostPhases.CHECK_COMPLIANCE, hostPhases.REFUSED) });
  }

  /** The remediation runs as this task of the component manager. */
  attach(remoteTask: string): void {
    this.#change({ remoteTask, requestedAt: this.#progress.requestedAt ?? toTimestamp(this.began) });
  }

  /** The task tells nothing more: it has ended, is not known any more, or was somebody else's. */
  detach(): void {
    const { remoteTask: _, ...rest } = this.#progress;
    this.#set(rest);
  }

  /** Every host has ended, so that nothing of this attempt is left to be found again. */
  endAttempt(): void {
    const { remoteTask: _, requestedAt: __, ...rest } = this.#progress;
    this.#set(rest);
  }

  /**
   * A host has failed, in the stage in which it is or in `stage`. It is tried again in the next attempt where it has one
   * left, unless `isFinal`, which uses up none.
   */
  fail(
    place: number,
    { code, what, causes }: Pick<HostFailure, "code" | "what" | "causes">,
    { stage, isFinal = false }: { readonly stage?: HostPhase; readonly isFinal?: boolean } = {},
  ): void {
    const { hosts, attempts, kind } = this.#input;
    const failures = this.#progress.failures.map((count, i) => count + (i === place && !isFinal ? 1 : 0));
    const isLast = isFinal || (failures[place] ?? 0) >= attempts.maximumAttempts;
    this.#causes.set(place, causes);
    const text = hosts.length > 1 ? bounded(what, sharedText) : what;
    const { type = "" } = stageOfPhase(kind, stage ?? phaseOf(this.#progress, place)) ?? {};
    this.#change({
      failures,
      failed: this.#failedWith(place, { code, what: text, stage: type, at: this.#now() }),
      ...this.#entered([place], isLast ? "FAILED" : "FAILED_ONCE"),
    });
  }

  /** Hosts that wait for this attempt and are held, with why: left out, or failed for good where they have failed before. */
  leaveOut(held: ReadonlyMap<string, ErrorBody>): void {
    for (const place of this.inPhase("WAITING")) {
      const why = held.get(this.#input.hosts[place]?.host ?? "")?.message;
      if (why === undefined) continue;
      const known = failureAt(this.#progress, place);
      if (!known) {
        this.#held.set(place, why);
        this.enter([place], "HELD", why);
      } else {
        const what = bounded(`${known.what} There is no further attempt: ${why}`, 2 * sharedText);
        this.#change({ failed: this.#failedWith(place, { ...known, what }), ...this.#entered([place], "FAILED") });
      }
    }
  }

  /** How a host that has failed was left, in whole sentences. */
  noteLeftBehind(place: number, leftBehind: string): void {
    const known = failureAt(this.#progress, place);
    if (!known || known.leftBehind === leftBehind) return;
    this.#change({ failed: this.#failedWith(place, { ...known, what: bounded(known.what, 260), leftBehind }) });
  }

  /** How the first host was left that is not as it was found; undefined where all are. */
  get leftBehind(): string | undefined {
    return this.#progress.failed.find(({ leftBehind }) => leftBehind !== undefined)?.leftBehind;
  }

  /** Nothing is left to try: how every host ended. */
  result(): RemediationResult {
    const at = this.#now();
    const { hosts, targetVersion: version } = this.#input;
    const nameAt = (place: number) => hosts[place] ?? { host: "", fqdn: "" };
    const stagesAt = (place: number) => stagesOfHost(this.#progress, place, nameAt(place).fqdn, at);
    const held = this.inPhase("HELD").map((place) => ({
      host: nameAt(place).host,
      why: this.#held.get(place) ?? "It was held when its turn came.",
    }));
    const resultOf =
      (outcome: HostResult["outcome"]) =>
      (place: number): HostResult => ({ host: nameAt(place).host, outcome, version, stages: stagesAt(place) });
    return {
      upgraded: [
        ...this.inPhase("UPGRADED").map(resultOf("UPGRADED")),
        ...this.inPhase("ALREADY_AT_TARGET").map(resultOf("ALREADY_AT_TARGET")),
      ],
      failed: this.inPhase("FAILED", "FAILED_ONCE").map((place) => ({
        host: nameAt(place).host,
        error: this.errorOf(place),
        stages: stagesAt(place),
        ...outOfServiceAt(this.#progress, place),
      })),
      stopped: this.inPhase("STOPPED", "WAITING").map((place) => nameAt(place).host),
      ...(held.length > 0 && { held }),
    };
  }

  /** The last failure of a host as clients see it; of a host alone with all that the component manager said. */
  errorOf(place: number): ErrorBody {
    const { cluster, hosts } = this.#input;
    const fqdn = hosts[place]?.fqdn ?? "";
    const causes = hosts.length === 1 ? (this.#causes.get(place) ?? []) : [];
    return {
      ...errorAt(this.#progress, place, fqdn),
      message: errorAt(this.#progress, place, fqdn)?.message ?? `Host ${fqdn} failed.`,
      context: { cluster: cluster.name, host: fqdn, componentManager: cluster.componentManagerId },
      ...(causes.length > 0 && { causes: causes.map((message) => ({ message })) }),
    };
  }

  /** Places of hosts in another phase; the first that comes into a stage says since when. */
  #entered(places: readonly number[], phase: HostPhase): Pick<RemediationProgress, "phases" | "entered"> {
    const { phases, entered } = this.#progress;
    const letters = Array.from(phases);
    for (const place of places) letters[place] = hostPhases[phase];
    const stage = places.length > 0 ? stageOfPhase(this.#input.kind, phase) : undefined;
    return {
      phases: letters.join(""),
      entered: stage && !(stage.type in entered) ? { ...entered, [stage.type]: this.#now() } : entered,
    };
  }

  /** The failures with that of one host among those that others have as well. */
  #failedWith(place: number, failure: Omit<RemediationFailure, "hosts">): RemediationFailure[] {
    const others = this.#progress.failed
      .map((group) => ({ ...group, hosts: group.hosts.filter((host) => host !== place) }))
      .filter(({ hosts }) => hosts.length > 0);
    const same = others.find((group) =>
      (["code", "what", "stage", "leftBehind"] as const).every((field) => group[field] === failure[field]),
    );
    return same
      ? others.map((group) => (group === same ? { ...group, hosts: [...group.hosts, place] } : group))
      : [...others, { ...failure, hosts: [place] }];
  }

  #change(change: Partial<RemediationProgress>): void {
    // What was so far on its way says nothing of what comes next.
    const { percent: _, ...known } = this.#progress;
    this.#set({ ...known, ...change });
  }

  #set(progress: RemediationProgress): void {
    this.#progress = progress;
    this.#beat(progress);
  }
}
