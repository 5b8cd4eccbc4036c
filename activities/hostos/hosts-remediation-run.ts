import { DriverError } from "../drivers/driver-error";
import type { ApplyResult, TaskInfo } from "../drivers/vlcm/vlcm-models";
import { startOf, verdictAmongHosts, verdictOfResult, worksOn } from "./apply-verdict";
import { assessHosts, connectionState, isApply, stateAmong } from "./find-remediation";
import { followTask } from "./follow-task";
import { leaveMaintenance } from "./hosts-maintenance";
import { switchOffVms } from "./hosts-vm-power";
import type { HostsRemediationContext } from "./hosts-context";
import { verifyHosts } from "./verify-hosts";
import { otherOperation, stalledFor } from "./remediation-errors";
import { RemediationRequests } from "./remediation-requests";

export interface HostsRemediationOptions extends HostsRemediationContext {
  /** Whether an earlier run may have asked for a remediation, which this run cannot know for sure. */
  readonly mayHaveRequested: boolean;
  /** The upgrade was cancelled: bring what runs to an end, start nothing. */
  readonly stopping: boolean;
}

/**
 * One attempt at several hosts, from wherever it stands. The invariants of {@link HostRemediationRun} hold here too:
 * a remediation is asked for only where none runs and only of hosts that are known not to be at the target; after
 * anything that leaves open whether a request arrived, the component manager is asked before it is repeated; while
 * stopping nothing is asked for.
 */
export class HostsRemediationRun {
  readonly #o: HostsRemediationOptions;
  readonly #requests: RemediationRequests;
  #forgotten = false;

  constructor(options: HostsRemediationOptions) {
    this.#o = options;
    const { remoteTask, requestedAt, failures } = options.progress.current;
    const areKnown = remoteTask !== undefined || requestedAt !== undefined || failures.some((count) => count > 0);
    this.#requests = new RemediationRequests(options, areKnown);
  }

  /** Until every host has ended, well or not. Throws DriverError or the interruption of the patience. */
  async toTheEnd(): Promise<void> {
    const { progress } = this.#o;
    await this.#remediate();
    await verifyHosts(this.#o);
    await leaveMaintenance(this.#o);
    progress.detach();
    progress.retract();
  }

  get #cluster(): string {
    return this.#o.input.cluster.cluster;
  }

  #idOf = (place: number): string => this.#o.input.hosts[place]?.host ?? "";

  async #remediate(): Promise<void> {
    const { client, patience, progress, stopping } = this.#o;
    for (let round = 0; ; round++) {
      const { remoteTask } = progress.current;
      if (remoteTask !== undefined) {
        await this.#follow(remoteTask);
        continue;
      }
      if (this.#open().length === 0) return;
      const tasks = await patience.persist(() => client.listUnfinishedTasks(this.#cluster));
      const running = [...tasks].find(([, task]) => isApply(task));
      if (running) {
        const [task, info] = running;
        if (this.#requests.arePossible && this.#isOurs(info)) {
          this.#requests.found();
          progress.move(this.#open(), "REMEDIATING");
          progress.attach(task);
          continue;
        }
        if (stopping) return progress.move(this.#open(), "STOPPED");
        progress.note(`Waiting for another operation on the cluster (task ${task}) to end.`);
        this.#requests.waitAtMost("busy", () => otherOperation(client.id, task));
        await patience.pause(round);
        continue;
      }
      await this.#readLastResult();
      const candidates = await this.#candidates();
      if (candidates === "LOOK_AGAIN") {
        await patience.pause(round);
        continue;
      }
      if (candidates.length === 0) return;
      if (stopping && !this.#forgotten) return progress.move(candidates, "STOPPED");
      if (stopping) {
        progress.note("Waiting for the end of the remediation, whose task the component manager has forgotten.");
        if (this.#requests.isOver("forgotten")) return progress.move(candidates, "STOPPED");
      } else if (await this.#request(await this.#enterMaintenance(candidates))) continue;
      await patience.pause(round);
    }
  }

  /** Places of hosts of which it is not known yet how they end. */
  #open(): number[] {
    return this.#o.progress.inPhase("WAITING", "ENTERING_MAINTENANCE", "REMEDIATING");
  }

  #isOurs(task: TaskInfo): boolean {
    return this.#o.input.hosts.some(({ host }) => worksOn(task, host) !== false);
  }

  /** The open hosts that have to be remediated; the others are settled. */
  async #candidates(): Promise<number[] | "LOOK_AGAIN"> {
    const { client, patience, progress, input, stopping } = this.#o;
    const open = this.#open();
    if (open.length === 0) return [];
    const listed = await patience.persist(() => client.listHosts(this.#cluster));
    const stateOf = (place: number) => stateAmong(listed, this.#idOf(place));
    const away = open.filter((place) => stateOf(place) !== "CONNECTED");
    if (away.length > 0 && !(stopping && !this.#requests.areKnown) && !this.#requests.isOver("away")) {
      progress.note(`Waiting for ${away.length} hosts, which are ${[...new Set(away.map(stateOf))].join(" or ")}.`);
      return "LOOK_AGAIN";
    }
    for (const place of away)
      progress.fail(place, {
        code: "HOST_NOT_RECONNECTED",
        what: `is ${stateOf(place)}.`,
        stage: this.#requests.areKnown ? "RECONNECT" : "CHECK_COMPLIANCE",
      });

    const here = open.filter((place) => !away.includes(place));
    if (here.length === 0) return [];
    const assessed = await assessHosts(client, patience, input, here.map(this.#idOf), this.#requests.arePossible);
    const candidates: number[] = [];
    here.forEach((place, i) => {
      const found = assessed[i];
      const wasInWork = (progress.current.failures[place] ?? 0) > 0 || progress.inPhase("REMEDIATING").includes(place);
      if (found?.atTarget) progress.move([place], wasInWork ? "RECONNECTING" : "ALREADY_AT_TARGET");
      else if (found?.conclusive && found.compliance === "INCOMPATIBLE")
        progress.fail(place, {
          code: "HOST_INCOMPATIBLE",
          what: `cannot take the image: ${found.reasons[0] ?? "the component manager does not say why."}`,
          stage: "CHECK_COMPLIANCE",
          final: true,
        });
      else candidates.push(place);
    });
    return candidates;
  }

  /** Gives the hosts that got there, with nothing on them that is to be switched off; the others have failed. */
  async #enterMaintenance(candidates: readonly number[]): Promise<number[]> {
    const { maintenance, patience, progress, input } = this.#o;
    progress.move(candidates, "ENTERING_MAINTENANCE");
    const runOn = await switchOffVms(this.#o, candidates);
    for (const [place, what] of runOn)
      progress.fail(place, { code: "HOST_MAINTENANCE_MODE_FAILED", what, stage: "REMEDIATE" });
    const places = candidates.filter((place) => !runOn.has(place));
    if (places.length === 0) return [];
    progress.note(`${places.length} hosts enter maintenance mode.`);
    const ends = await Promise.allSettled(
      places.map((place) => maintenance.enter(this.#idOf(place), input.options, patience)),
    );
    const troubles = ends.flatMap((end, i) => {
      if (end.status === "fulfilled") return [];
      const error: unknown = end.reason;
      if (!(error instanceof DriverError) || error.code !== "HOST_MAINTENANCE_MODE_FAILED") return [error];
      const what = `could not enter maintenance mode: ${error.causes[0] ?? error.message}`;
      progress.fail(places[i] ?? 0, { code: error.code, what, stage: "REMEDIATE" });
      return [];
    });
    if (troubles.length > 0) throw troubles[0];
    return places.filter((_, i) => ends[i]?.status === "fulfilled");
  }

  /** Asks for the remediation. True where the answer says how it goes on; false where that has to be found out. */
  async #request(places: readonly number[]): Promise<boolean> {
    const { progress } = this.#o;
    if (places.length === 0) return true;
    return this.#requests.ask({
      hosts: places.map(this.#idOf),
      named: `${places.length} hosts`,
      witness: this.#idOf(0),
      intend: (requestedAt) => {
        progress.move(places, "REMEDIATING");
        progress.intend(requestedAt);
      },
      retract: (requestedAt) => {
        progress.move(places, "ENTERING_MAINTENANCE");
        progress.retract(requestedAt);
      },
    });
  }

  /** Follows a task to its end and judges every host by it; hosts that it tells nothing of stay open. */
  async #follow(task: string): Promise<void> {
    const { client, patience, progress, input, limits, stopping } = this.#o;
    const hosts = input.hosts.map(({ host }) => host);
    const onProgress = progress.note.bind(progress);
    const options = { client, patience, task, hosts, onProgress };
    let followed = await followTask({ ...options, stall: limits.stall, cancel: stopping });
    const stalled = followed.end === "STALLED";
    if (stalled) {
      progress.note("No progress for too long: cancelling the remediation.");
      followed = await followTask({ ...options, stall: limits.operationBusy, cancel: true });
    }
    const inWork = progress.inPhase("REMEDIATING");
    if (followed.end === "FORGOTTEN") {
      this.#forgotten = true;
      return progress.detach();
    }
    const ended = followed.end === "ENDED" ? followed.task : undefined;
    const listed = await patience.persist(() => client.listHosts(this.#cluster));
    for (const place of inWork) {
      const host = this.#idOf(place);
      const verdict = ended ? verdictAmongHosts(ended, host) : ({ verdict: "UNKNOWN" } as const);
      if (verdict.verdict === "OK") progress.move([place], "RECONNECTING");
      else if (stalled)
        progress.fail(place, { code: "HOST_REMEDIATION_STALLED", what: stalledFor(task, ended), stage: "REMEDIATE" });
      else if (verdict.verdict === "FAILED") this.#failed(place, stateAmong(listed, host), verdict.reasons);
      // Skipped, for example because another host failed before its turn: it is looked at again.
      else progress.move([place], "ENTERING_MAINTENANCE");
    }
    if (progress.inPhase("ENTERING_MAINTENANCE").length < inWork.length) this.#requests.moved();
    progress.detach();
  }

  #failed(place: number, state: string, reasons: readonly string[]): void {
    const reason = reasons[0] ?? "the component manager does not say why.";
    const isHere = state === "CONNECTED";
    this.#o.progress.fail(place, {
      code: isHere ? "HOST_REMEDIATION_FAILED" : "HOST_NOT_RECONNECTED",
      what: isHere ? `failed: ${reason}` : `is ${state}: ${reason}`,
      stage: isHere ? "REMEDIATE" : "RECONNECT",
    });
  }

  /** What the last remediation of the cluster says of the open hosts, where it was ours. */
  async #readLastResult(): Promise<void> {
    const { client, patience, progress } = this.#o;
    const since = this.#requests.since(progress.current.failures.some((count) => count > 0));
    if (since === undefined) return;
    const last: ApplyResult | undefined = await patience.persist(() => client.readLastApplyResult(this.#cluster));
    for (const place of last ? this.#open() : []) {
      const host = this.#idOf(place);
      const began = startOf(last ?? {}, host);
      if (began === undefined || began < since) continue;
      const verdict = verdictOfResult(last ?? {}, host);
      if (verdict.verdict === "OK") progress.move([place], "RECONNECTING");
      if (verdict.verdict === "FAILED") {
        this.#failed(place, await connectionState(client, patience, this.#cluster, host), verdict.reasons);
      }
    }
  }
}
