import { endingRetryPolicy } from "../../activity-run";
import { endedByRestart } from "../../complete-task";
import { DriverError, isNotFound } from "../../drivers/driver-error";
import type { ApplyResult, TaskInfo } from "../../drivers/vlcm/vlcm-models";
import type { RemediationContext } from "../remediate-hosts";
import { heldByOthers, hostFailure, leftCluster, otherOperation, stalledFor } from "../remediation-errors";
import { assessHosts, isApply, stateAmong } from "./assess-hosts";
import { followRemediation } from "./follow-remediation";
import { hostsIn, type ImageContext, type ImageInterfaces } from "./image-context";
import { givenUp, leaveMaintenance, switchOffVms } from "./leave-maintenance";
import {
  RemediationRequests,
  startOf,
  verdictAmongHosts,
  verdictOfResult,
  verdictOfTask,
  worksOn,
} from "./remediation-requests";
import { describeImage } from "./target-image";

/** One attempt at hosts of an image-managed cluster: its component manager remediates those that it is told. */
export async function remediateImageHosts(given: RemediationContext, interfaces: ImageInterfaces): Promise<void> {
  const context = { ...given, ...interfaces };
  const { limits, progress, stopping } = context;
  try {
    await new ImageRemediation(context).toTheEnd();
  } catch (error) {
    // Nothing was asked for yet, so whatever is in maintenance mode was put there by somebody else.
    if (!(error instanceof DriverError) || (progress.isUntouched && !progress.hasFailures)) throw error;
    const onTrouble = ({ message }: DriverError) => progress.note(`Waiting: ${message}`);
    const retryPolicy = stopping ? context.retryPolicy : endingRetryPolicy(limits, onTrouble);
    throw await givenUp({ ...context, retryPolicy }, error);
  }
}

/**
 * One attempt at hosts, from wherever it stands. Invariants:
 * 1. A remediation is asked for only where none runs, and only of hosts that are connected and known not to be at the
 *    target; and a heartbeat records the intent before the request.
 * 2. After anything that leaves open whether a request arrived, the component manager is asked before it is repeated.
 * 3. While stopping nothing is asked for.
 */
class ImageRemediation {
  readonly #o: ImageContext;
  readonly #requests: RemediationRequests;
  /** Places of hosts that the cluster did not list at the last look, and since when. */
  #missingSince: ReadonlyMap<number, number> = new Map();
  /** A remediation of ours was running when the component manager forgot its task. */
  #forgotten = false;
  /** Whether something of the hosts is known to be in work, so that a freeze does not keep it from its end. */
  #hasBegun = false;

  constructor(context: ImageContext) {
    this.#o = context;
    const { remoteTask, requestedAt } = context.progress.current;
    this.#hasBegun = remoteTask !== undefined;
    const areKnown = remoteTask !== undefined || requestedAt !== undefined || context.progress.hasFailures;
    this.#requests = new RemediationRequests(context, areKnown);
  }

  /** Until every host has ended, well or not. Throws DriverError or the interruption of the retryPolicy. */
  async toTheEnd(): Promise<void> {
    await this.#remediate();
    await this.#verify();
    const { input, progress } = this.#o;
    const isOurs = input.emptying !== undefined || this.#requests.areKnown;
    if (isOurs || progress.inPhase("EXIT_MAINTENANCE_MODE").length > 0) await leaveMaintenance(this.#o);
  }

  get #cluster(): string {
    return this.#o.input.cluster.cluster;
  }

  get #isAlone(): boolean {
    return this.#o.input.hosts.length === 1;
  }

  #idOf = (place: number): string => this.#o.input.hosts[place]?.host ?? "";

  /** Places of hosts of which it is not known yet how they end. */
  #open(): number[] {
    return this.#o.progress.inPhase(...openPhases);
  }

  async #list() {
    const { client, retryPolicy } = this.#o;
    const listed = await retryPolicy.retry(() => client.listHosts(this.#cluster));
    return (place: number) => stateAmong(listed, this.#idOf(place));
  }

  async #remediate(): Promise<void> {
    const { retryPolicy, progress, stopping } = this.#o;
    if (!stopping) await this.#leaveToOthers();
    const activity = `Comparing the ${this.#isAlone ? "host" : "hosts"} with the target image.`;
    progress.enter(progress.inPhase("WAITING"), "CHECK_COMPLIANCE", activity);
    for (let round = 0; ; round++) {
      const { remoteTask } = progress.current;
      if (remoteTask !== undefined) await this.#follow(remoteTask);
      else if (await this.#step()) continue;
      if (progress.current.remoteTask === undefined && this.#open().length === 0) return;
      await retryPolicy.pause(round);
    }
  }

  /** Hosts in maintenance mode of which nothing was asked yet: somebody else wants them there, and they fail untouched. */
  async #leaveToOthers(): Promise<void> {
    const { maintenance, retryPolicy, progress } = this.#o;
    const untouched = progress
      .inPhase("WAITING", ...(progress.isUntouched ? ["CHECK_COMPLIANCE" as const] : []))
      .filter((place) => (progress.current.failures[place] ?? 0) === 0);
    if (untouched.length === 0) return;
    const inside = await maintenance.inMaintenance(this.#cluster, retryPolicy);
    for (const place of untouched.filter((one) => inside.has(this.#idOf(one)))) {
      progress.enter([place], "CHECK_COMPLIANCE");
      progress.fail(place, heldByOthers, { isFinal: true });
    }
  }

  /** The next step where no task is known. True where there is nothing to wait for before what follows. */
  async #step(): Promise<boolean> {
    const { client, retryPolicy, progress, stopping } = this.#o;
    if (this.#open().length === 0) return false;
    const tasks = await retryPolicy.retry(() => client.listUnfinishedTasks(this.#cluster));
    const running = [...tasks].find(([, task]) => isApply(task));
    if (running) return this.#findRunning(...running);
    await this.#readLastResult();
    const candidates = await this.#candidates();
    if (candidates === "LOOK_AGAIN" || candidates.length === 0) return false;
    if (stopping && this.#forgotten) {
      progress.note("Waiting for the end of the remediation; the component manager no longer has its task.");
      if (!this.#requests.isOver("forgotten")) return false;
    }
    if (stopping) {
      progress.enter(candidates, "STOPPED");
      return false;
    }
    const places = this.#o.input.emptying ? await this.#empty(candidates) : candidates;
    return places.length === 0 || this.#request(places);
  }

  /** A remediation that runs: attaches to it where it is ours, otherwise waits for its end. */
  #findRunning(task: string, info: TaskInfo): boolean {
    const { client, progress, input, stopping } = this.#o;
    const isOurs = input.hosts.some(({ host }) => worksOn(info, host) !== false);
    if (this.#requests.arePossible && isOurs) {
      this.#requests.found();
      this.#hasBegun = true;
      progress.enter(this.#open(), "REMEDIATE");
      progress.attach(task);
      return true;
    }
    if (stopping) {
      progress.enter(this.#open(), "STOPPED");
      return false;
    }
    progress.note(`Waiting for another operation on the cluster (task ${task}) to end.`);
    this.#requests.waitAtMost("busy", () => otherOperation(client.id, task));
    return false;
  }

  /** The open hosts that have to be remediated; the others are settled. */
  async #candidates(): Promise<number[] | "LOOK_AGAIN"> {
    const { client, retryPolicy, progress, input, stopping } = this.#o;
    const open = this.#open();
    if (open.length === 0) return [];
    const stateOf = await this.#list();
    const away = open.filter((place) => stateOf(place) !== "CONNECTED");
    if (stopping && !this.#requests.arePossible) progress.enter(away, "STOPPED");
    else if (away.length > 0) {
      const states = [...new Set(away.map(stateOf))].join(" or ");
      this.#leaveOut(away.filter((place) => stateOf(place) === "MISSING"));
      progress.note(`Waiting for ${hostsIn(this.#o, away)}, which ${this.#isAlone ? "is" : "are"} ${states}.`);
      if (!this.#requests.isOver("away")) return "LOOK_AGAIN";
      const stillAway = progress.inPhase(...openPhases).filter((place) => away.includes(place));
      for (const place of stillAway) progress.fail(place, hostFailure("HOST_NOT_RECONNECTED", `is ${stateOf(place)}`));
    }

    const here = open.filter((place) => !away.includes(place));
    if (here.length === 0) return [];
    const assessed = await assessHosts(client, retryPolicy, input, here.map(this.#idOf), this.#requests.arePossible);
    const candidates: number[] = [];
    here.forEach((place, i) => {
      const found = assessed[i];
      const wasInWork = (progress.current.failures[place] ?? 0) > 0 || progress.inPhase("REMEDIATE").includes(place);
      if (found?.atTarget && wasInWork) this.#remediated([place]);
      else if (found?.atTarget) progress.enter([place], "ALREADY_AT_TARGET", "The host is already at the target.");
      else if (!stopping && found?.conclusive && found.compliance === "INCOMPATIBLE")
        progress.fail(place, hostFailure("HOST_INCOMPATIBLE", `cannot take ${describeImage(input)}`, found.reasons), {
          isFinal: true,
        });
      else candidates.push(place);
    });
    return candidates;
  }

  /** Hosts that the cluster does not list: left out at a later look, because a list may be wrong for a moment. */
  #leaveOut(missing: readonly number[]): void {
    const { retryPolicy, limits, progress } = this.#o;
    const now = retryPolicy.clock.now();
    this.#missingSince = new Map(missing.map((place) => [place, this.#missingSince.get(place) ?? now]));
    for (const [place, since] of this.#missingSince)
      if (now - since >= limits.poll.max) progress.fail(place, leftCluster, { isFinal: true });
  }

  /** Empties the hosts, which begins them unless an earlier run has brought some of them into maintenance mode. */
  async #empty(candidates: readonly number[]): Promise<number[]> {
    const { maintenance, retryPolicy, begin, mayHaveRequested } = this.#o;
    if (!this.#hasBegun && mayHaveRequested) {
      const inside = await maintenance.inMaintenance(this.#cluster, retryPolicy);
      this.#hasBegun = candidates.some((place) => inside.has(this.#idOf(place)));
    }
    const enter = () => this.#enterMaintenance(candidates);
    const asked = { cluster: this.#o.input.cluster.resourceId, hosts: candidates.map(this.#idOf) };
    const places = await (this.#hasBegun ? enter() : begin(enter, asked));
    this.#hasBegun = true;
    return places;
  }

  /** Gives the hosts that got there, with nothing on them that is to be switched off; the others have failed. */
  async #enterMaintenance(candidates: readonly number[]): Promise<number[]> {
    const { maintenance, retryPolicy, progress, input } = this.#o;
    progress.enter(candidates, "ENTER_MAINTENANCE_MODE");
    progress.takeOut(candidates, "inMaintenanceMode");
    const runOn = await switchOffVms(this.#o, candidates);
    for (const [place, failure] of runOn) progress.fail(place, failure);
    const places = candidates.filter((place) => !runOn.has(place));
    if (places.length === 0) return [];
    progress.note(`Waiting for ${hostsIn(this.#o, places)} to enter maintenance mode.`);
    const ends = await Promise.allSettled(
      places.map((place) => maintenance.enter(this.#idOf(place), input.emptying ?? {}, retryPolicy)),
    );
    const troubles = ends.flatMap((end, i) => {
      if (end.status === "fulfilled") return [];
      const error: unknown = end.reason;
      if (isNotFound(error)) {
        progress.fail(places[i] ?? 0, leftCluster, { isFinal: true });
        return [];
      }
      if (!(error instanceof DriverError) || error.code !== "HOST_MAINTENANCE_MODE_FAILED") return [error];
      const causes = error.causes.length > 0 ? error.causes : [error.message];
      progress.fail(
        places[i] ?? 0,
        hostFailure("HOST_MAINTENANCE_MODE_FAILED", "could not enter maintenance mode", causes),
      );
      return [];
    });
    if (troubles.length > 0) throw troubles[0];
    return places.filter((_, i) => ends[i]?.status === "fulfilled");
  }

  /** Asks for the remediation. True where the answer says how it goes on; false where that has to be found out. */
  async #request(places: readonly number[]): Promise<boolean> {
    const asked = await this.#requests.ask({
      begins: !this.#hasBegun,
      hosts: places.map(this.#idOf),
      named: this.#isAlone ? (this.#o.input.hosts[0]?.fqdn ?? "") : `${places.length} hosts`,
      witness: this.#idOf(0),
      intend: (requestedAt) => this.#o.progress.intend(requestedAt, places),
    });
    this.#hasBegun ||= asked;
    return asked;
  }

  /** Follows a task to its end and judges every host by it; hosts that it tells nothing of stay open. */
  async #follow(task: string): Promise<void> {
    const { client, retryPolicy, progress, input, limits, stopping } = this.#o;
    const hosts = input.hosts.map(({ host }) => host);
    const onProgress = progress.note.bind(progress);
    const options = { client, retryPolicy, task, hosts, onProgress };
    progress.note(`Remediating the ${this.#isAlone ? "host" : "hosts"}.`);
    let followed = await followRemediation({ ...options, stall: limits.stall, cancel: stopping });
    const stalled = followed.end === "STALLED";
    if (stalled) {
      progress.note("No progress for too long: cancelling the remediation.");
      followed = await followRemediation({ ...options, stall: limits.operationBusy, cancel: true });
    }
    if (followed.end === "FORGOTTEN" && !stalled) {
      this.#forgotten = true;
      return progress.detach();
    }
    const ended = followed.end === "ENDED" ? followed.task : undefined;
    if (ended && endedByRestart(ended)) {
      progress.note("The component manager restarted and ended the remediation: checking the result.");
      return progress.detach();
    }
    const inWork = progress.inPhase("REMEDIATE");
    const failed = new Map<number, readonly string[]>();
    for (const place of inWork) {
      const { verdict, reasons } = ended ? this.#verdict(ended, place) : noVerdict;
      // What a host alone has become is seen at the host; one of several was skipped and is looked at again.
      if (verdict === "OK" || (verdict === "UNKNOWN" && !stalled && this.#isAlone)) this.#remediated([place]);
      else if (stalled) progress.fail(place, hostFailure("HOST_REMEDIATION_STALLED", stalledFor(task, ended)));
      else if (verdict === "FAILED") failed.set(place, reasons);
    }
    await this.#failed(failed);
    if (progress.inPhase("REMEDIATE").length < inWork.length) this.#requests.moved();
    progress.detach();
  }

  #verdict(task: TaskInfo, place: number) {
    const found = (this.#isAlone ? verdictOfTask : verdictAmongHosts)(task, this.#idOf(place));
    return { ...noVerdict, ...found };
  }

  /** Hosts of which a remediation has ended well, or that are at the target after one was asked for. */
  #remediated(places: readonly number[]): void {
    this.#o.progress.enter(
      places,
      "RECONNECT",
      `Waiting until the ${this.#isAlone ? "host is" : "hosts are"} connected.`,
    );
  }

  /** Hosts that the component manager reports as failed, with its words. */
  async #failed(failed: ReadonlyMap<number, readonly string[]>): Promise<void> {
    if (failed.size === 0) return;
    const stateOf = await this.#list();
    for (const [place, reasons] of failed) {
      const failure =
        stateOf(place) === "CONNECTED"
          ? hostFailure("HOST_REMEDIATION_FAILED", "failed", reasons)
          : hostFailure("HOST_NOT_RECONNECTED", `is ${stateOf(place)}`, reasons);
      this.#o.progress.fail(place, failure);
    }
  }

  /** What the last remediation of the cluster says of the open hosts, where it was ours. */
  async #readLastResult(): Promise<void> {
    const { client, retryPolicy, progress } = this.#o;
    const since = this.#requests.since(progress.hasFailures);
    if (since === undefined) return;
    const last: ApplyResult = (await retryPolicy.retry(() => client.readLastApplyResult(this.#cluster))) ?? {};
    const failed = new Map<number, readonly string[]>();
    for (const place of this.#open()) {
      const host = this.#idOf(place);
      const began = startOf(last, host);
      if (began === undefined || began < since) continue;
      const verdict = verdictOfResult(last, host);
      if (verdict.verdict === "OK") this.#remediated([place]);
      if (verdict.verdict === "FAILED") failed.set(place, verdict.reasons);
    }
    await this.#failed(failed);
  }

  /** Waits until every remediated host is connected and found at the target; those that are not in time have failed. */
  async #verify(): Promise<void> {
    const { client, retryPolicy, progress, input, limits } = this.#o;
    const began = { RECONNECT: retryPolicy.clock.now(), VERIFY: retryPolicy.clock.now() };
    const isOver = (phase: keyof typeof began) => retryPolicy.clock.now() - began[phase] >= limits.reconnect;
    for (let round = 0; ; round++) {
      const away = progress.inPhase("RECONNECT");
      const stateOf = away.length > 0 ? await this.#list() : () => "CONNECTED";
      this.#leaveOut(away.filter((place) => stateOf(place) === "MISSING"));
      for (const place of away) {
        if (progress.inPhase("FAILED").includes(place)) continue;
        if (stateOf(place) === "CONNECTED") {
          if (progress.inPhase("VERIFY").length === 0) began.VERIFY = retryPolicy.clock.now();
          progress.enter([place], "VERIFY", `Comparing the ${this.#isAlone ? "host" : "hosts"} with the target image.`);
        } else if (isOver("RECONNECT"))
          progress.fail(place, hostFailure("HOST_NOT_RECONNECTED", `is ${stateOf(place)}`));
        else if (this.#isAlone) progress.note(`Waiting for the host, which is ${stateOf(place)}.`);
        else progress.note(`Waiting until ${away.length} hosts are connected and verified.`);
      }
      const here = progress.inPhase("VERIFY");
      const assessed = here.length > 0 ? await assessHosts(client, retryPolicy, input, here.map(this.#idOf), true) : [];
      here.forEach((place, i) => {
        const found = assessed[i];
        // The product takes a host out itself, but not always: that is looked at in the end.
        if (found?.atTarget) return progress.enter([place], "EXIT_MAINTENANCE_MODE");
        // Just after a restart a host cannot always be scanned.
        if (!found?.conclusive && !isOver("VERIFY")) return;
        const what = `has version ${found?.version || "unknown"} and is ${found?.compliance || "not scanned"}`;
        progress.fail(place, hostFailure("HOST_NOT_AT_TARGET", what));
      });
      if (progress.inPhase("RECONNECT", "VERIFY").length === 0) return;
      await retryPolicy.pause(round);
    }
  }
}

/** Phases in which it is not known yet how a host ends. */
const openPhases = ["WAITING", "CHECK_COMPLIANCE", "ENTER_MAINTENANCE_MODE", "REFUSED", "REMEDIATE"] as const;

const noVerdict = { verdict: "UNKNOWN", reasons: [] as readonly string[] } as const;
