import { momentOf } from "../../src/clock";
import type { ErrorBody } from "../../src/domain/errors";
import { netvirtComponentNames, type NetvirtComponentResult } from "../../src/domain/task/netvirt-upgrade";
import { compareVersions } from "../../src/domain/version";
import type { ActivityLimits } from "../activity-limits";
import { CancelledBeforeStart } from "../activity-run";
import type { UpgradeNetvirtComponentInput } from "../contract";
import { DriverError, isAnsweredForNow } from "../drivers/driver-error";
import { type Begin, ClosureError } from "../closure-check";
import type { NsxClient, PlanAction } from "../drivers/nsx/nsx-client";
import { GiveUpError, type RetryPolicy } from "../retry-policy";
import { StallTimer } from "../stall-timer";
import { ComponentLook, type ComponentProgressTracker, type ComponentView } from "./component-view";

/** Milliseconds between two looks at freezes: one takes effect within 5 s. */
const betweenLooksAtClosure = 2_000;

/** Requests in a row that may come to nothing before that is an error. */
const maximumRequests = 5;

interface ComponentUpgradeOptions {
  readonly client: NsxClient;
  readonly input: UpgradeNetvirtComponentInput;
  readonly limits: ActivityLimits;
  readonly progress: ComponentProgressTracker;
  readonly retryPolicy: RetryPolicy;
  readonly begin: Begin;
  /** Why the coordinator is to begin no further node; undefined where it may. */
  whyClosed(): Promise<ErrorBody | undefined>;
  /** The upgrade was cancelled: pause what runs, start nothing. */
  readonly stopping: boolean;
}

/**
 * One attempt at one component, from wherever it stands. Invariants:
 * 1. The coordinator is asked only where it stands still, and a heartbeat records the intent before the request.
 * 2. Whether a request arrived is told by what the coordinator shows afterwards, never by the answer alone.
 * 3. Success is what the nodes say: each one that is to be upgraded is. The component's status may be PAUSED then.
 * 4. While stopping nothing is asked for but a pause. A freeze pauses it too: the coordinator begins nodes by itself.
 */
export class ComponentUpgradeRun {
  readonly #o: ComponentUpgradeOptions;
  readonly #look: ComponentLook;
  #upgraded: boolean;
  #requests = 0;
  #lastRefusal: DriverError | undefined;
  #unansweredSince: number | undefined;
  /** How it stood when every node was last read again to make sure of it. */
  #confirmed: string | undefined;
  #pausedAt = -Infinity;
  #closureLookedAt = -Infinity;
  #isClosed = false;
  /** When the coordinator was last asked, by the clock's `now()`; of what an earlier run asked, as far as it can be known. */
  #requestedAt: number;

  constructor(options: ComponentUpgradeOptions) {
    this.#o = options;
    this.#look = new ComponentLook(options.client, options.retryPolicy, options.input.component);
    // By the time of day, because an earlier run on another machine may have made the request.
    const { clock } = options.retryPolicy;
    this.#requestedAt = momentOf(clock, Date.parse(options.progress.current.requestedAt ?? "") || 0);
    this.#upgraded = options.progress.requested || options.progress.current.reportedFailures > 0;
  }

  /** Throws NetvirtFailure, DriverError, CancelledBeforeStart or the interruption of the retryPolicy. */
  async toTheEnd(): Promise<NetvirtComponentResult> {
    const { retryPolicy, limits, progress, input } = this.#o;
    const timer = new StallTimer(retryPolicy.clock);
    for (let round = 0; ; round++) {
      // Time in which the manager does not answer is no time without progress.
      const view = await timer.uncounted(() => this.#look.now());
      if (timer.look([view.overall, view.status, view.percent, view.nodes])) round = 0;
      const still = timer.stalledFor;
      if (isDone(view)) {
        if (!isActive(view.overall)) {
          progress.show(view, "Upgraded.");
          return { component: input.component, outcome: this.#upgraded ? "UPGRADED" : "ALREADY_AT_TARGET" };
        }
        progress.show(view, "Every node is upgraded; waiting until the coordinator's overall status says so.");
        if (still >= limits.operationBusy) throw this.#failure("NETVIRT_UPGRADE_STALLED", view, "does not end");
      } else if (isActive(view.status)) {
        this.#upgraded = true;
        progress.show(view, describe(view));
        if (this.#o.stopping || (await this.#lookAtClosure())) await this.#pause();
        if (still >= limits.stall) await this.#stalled(view);
      } else if (!this.#isClosed || (await this.#isOpenAgain(view))) await this.#standsStill(view, still);
      await retryPolicy.pause(round);
    }
  }

  /** Whether a freeze is known; one that cannot be read stops nothing that has begun. */
  async #lookAtClosure(): Promise<boolean> {
    const { retryPolicy, whyClosed } = this.#o;
    if (retryPolicy.clock.now() - this.#closureLookedAt < betweenLooksAtClosure) return this.#isClosed;
    this.#closureLookedAt = retryPolicy.clock.now();
    const { errorCode = "FREEZE_UNREADABLE" } = (await whyClosed()) ?? {};
    this.#isClosed = errorCode !== "FREEZE_UNREADABLE";
    return this.#isClosed;
  }

  /** A freeze has had the coordinator paused, and it stands: it continues when that is lifted. False where it is not certain yet. */
  async #isOpenAgain(view: ComponentView): Promise<boolean> {
    if (!this.#isConfirmed(view)) return false;
    const error = await this.#o.whyClosed();
    if (error) throw new ClosureError(error);
    this.#isClosed = false;
    return true;
  }

  /** The nodes may have been read before the component came to its end: whether another look found the same. */
  #isConfirmed(view: ComponentView): boolean {
    const key = keyOf(view);
    if (this.#confirmed === key) return true;
    this.#confirmed = key;
    this.#look.forget();
    return false;
  }

  /** The coordinator works on nothing of this component, and it is not upgraded. */
  async #standsStill(view: ComponentView, still: number): Promise<void> {
    const { progress, limits, stopping } = this.#o;
    progress.show(view, describe(view));
    if (isActive(view.overall)) {
      progress.note("Waiting until the coordinator finishes another component.");
      if (still < limits.operationBusy) return;
      if (stopping) throw new CancelledBeforeStart();
      throw busy(this.#o.client.id);
    }
    if (!progress.requested) {
      if (stopping) throw new CancelledBeforeStart();
      return this.#request(view);
    }
    const moved = keyOf(view) !== progress.current.requestedFrom;
    if (!moved && this.#sinceRequest() < this.#settle()) {
      progress.note("Waiting until the coordinator starts.");
      return;
    }
    if (stopping) throw new CancelledBeforeStart();
    // Not even begun: whether the request was lost or refused silently, it may be made again.
    if (!moved && (view.status === "NOT_STARTED" || !progress.current.accepted)) return this.#request(view);
    if (!this.#isConfirmed(view)) return;
    if (view.status === "FAILED" || view.nodes.some(({ status }) => status === "FAILED")) {
      throw this.#failure("NETVIRT_UPGRADE_FAILED", view, "failed");
    }
    if (view.status === "SUCCESS") throw this.#failure("NETVIRT_NODES_NOT_UPGRADED", view, "ended");
    // Paused before its end, as it is after each unit or group where somebody has set it so: it goes on as long as it gets on.
    if (moved) {
      this.#requests = 0;
      return this.#request(view);
    }
    throw this.#failure("NETVIRT_UPGRADE_PAUSED", view, "was paused");
  }

  async #request(view: ComponentView): Promise<void> {
    const { client, retryPolicy, progress, input, begin } = this.#o;
    if (++this.#requests > maximumRequests)
      throw this.#lastRefusal ?? requestsWithoutEffect(client.id, input, maximumRequests);
    const { upgrade_coordinator_version: version } = await retryPolicy.retry(() => client.readSummary());
    const action = actionOf(version ?? input.targetVersion, view.status);
    progress.intend(keyOf(view), retryPolicy.clock.timeOfDay());
    this.#requestedAt = retryPolicy.clock.now();
    this.#upgraded = true;
    try {
      // Not through retryPolicy: a request whose answer is lost must not be repeated without looking.
      await begin(() => retryPolicy.once(() => client.startUpgrade(input.component, action)));
      progress.accept();
      this.#lastRefusal = undefined;
      this.#unansweredSince = undefined;
    } catch (error) {
      if (!(error instanceof DriverError) || error.kind === "permanent") throw error;
      progress.note(error.message);
      // The coordinator has a code where it refuses for a reason of its own: then it is not asked for as long as an outage may last.
      const isRefusal = error.errorType !== undefined && error.code !== "COMPONENT_MANAGER_UNREACHABLE";
      if (isRefusal) this.#lastRefusal = error;
      else if (isAnsweredForNow(error)) this.#askLater(error);
    }
  }

  /** The request is made again, after a look, for as long as an outage may last. */
  #askLater(error: DriverError): void {
    const { retryPolicy, limits } = this.#o;
    this.#requests--;
    this.#unansweredSince ??= retryPolicy.clock.now();
    if (retryPolicy.clock.now() - this.#unansweredSince >= limits.outage) throw new GiveUpError(error, limits.outage);
  }

  /** Asks for a pause, again where that has no effect; whether it does is seen at the next looks. */
  async #pause(): Promise<void> {
    const { client, progress, retryPolicy } = this.#o;
    if (retryPolicy.clock.now() - this.#pausedAt < this.#settle()) return;
    this.#pausedAt = retryPolicy.clock.now();
    progress.note("Pausing: running nodes finish, no further one starts.");
    try {
      await client.pauseUpgrade();
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      progress.note(error.message);
    }
  }

  /** Lets nothing run on unattended: asks for a pause and waits a while for it before the failure is told. */
  async #stalled(view: ComponentView): Promise<never> {
    const { retryPolicy, limits } = this.#o;
    const began = retryPolicy.clock.now();
    for (let round = 0; ; round++) {
      await this.#pause();
      const { status } = await this.#look.now();
      if (!isActive(status) || retryPolicy.clock.now() - began >= limits.operationBusy) break;
      await retryPolicy.pause(round);
    }
    throw this.#failure("NETVIRT_UPGRADE_STALLED", view, "made no progress");
  }

  /** How long the coordinator may take to show what it was asked for. */
  #settle(): number {
    return 6 * this.#o.limits.poll.max;
  }

  #sinceRequest(): number {
    return this.#o.retryPolicy.clock.now() - this.#requestedAt;
  }

  #failure(code: Parameters<typeof netvirtFailure>[0], view: ComponentView, what: string): NetvirtFailure {
    const { netvirt, component } = this.#o.input;
    const failed = view.nodes.filter(({ status }) => status === "FAILED");
    const open = view.nodes.filter(({ status }) => status !== "SUCCESS");
    const named = failed.length > 0 ? failed : open;
    const names = named.slice(0, 3).map(({ name }) => name);
    const more = named.length > names.length ? ` and ${named.length - names.length} more` : "";
    const state = failed.length > 0 ? "failed" : "not upgraded";
    const about = names.length > 0 ? ` (${state}: ${names.join(", ")}${more}; ${upgradedOf(view)})` : "";
    const causes = named.flatMap(({ name, error }) => (error === undefined ? [] : [`${name}: ${error}`]));
    return netvirtFailure(
      code,
      `The upgrade of the ${netvirtComponentNames[component]} of ${netvirt.name} ${what}${about}`,
      causes.length > 0 || view.details === "" ? causes : [view.details],
    );
  }
}

function isActive(status: string): boolean {
  return status === "IN_PROGRESS" || status === "PAUSING";
}

/** Whether every node that is to be upgraded is. A component with groups that are left out ends PAUSED. */
function isDone({ status, nodes }: ComponentView): boolean {
  if (isActive(status)) return false;
  if (nodes.length === 0) return status === "SUCCESS";
  return nodes.every((node) => node.status === "SUCCESS");
}

/** What changes when a request has an effect. */
function keyOf({ status, nodes }: ComponentView): string {
  const of = (wanted: string) => nodes.filter((node) => node.status === wanted).length;
  return `${status} ${of("SUCCESS")}/${of("FAILED")}/${nodes.length}`;
}

function describe(view: ComponentView): string {
  return view.nodes.length === 0 ? `The component is ${view.status}.` : `${upgradedOf(view)}.`;
}

function upgradedOf({ nodes }: ComponentView): string {
  return `${nodes.filter(({ status }) => status === "SUCCESS").length} of ${nodes.length} nodes are upgraded`;
}

/** From coordinator version 9.1 on one action starts, continues and retries. */
function actionOf(coordinatorVersion: string, status: string): PlanAction {
  if (compareVersions(coordinatorVersion, "9.1") >= 0) return "upgrade";
  return status === "NOT_STARTED" ? "start" : "continue";
}

function busy(managerId: string): DriverError {
  return new DriverError({
    kind: "transient",
    code: "NETVIRT_UPGRADE_RUNNING",
    message: `The upgrade coordinator of ${managerId} is busy with another component that does not end.`,
    remediation: "Wait for it to end or pause it in the coordinator, then retry the upgrade.",
  });
}

function requestsWithoutEffect(
  managerId: string,
  { component }: UpgradeNetvirtComponentInput,
  requests: number,
): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "NETVIRT_UPGRADE_NOT_STARTED",
    message: `The upgrade of ${component} was requested of ${managerId} ${requests} times and does not start.`,
    remediation: "Check the upgrade coordinator's log for the requests, then retry the upgrade.",
  });
}

const maintenance =
  "A failed host stays in NETVIRT maintenance mode, also after a restart, and upgrades skip it: take it out there.";

/** The ways in which the upgrade coordinator reports that a component was not upgraded. Only these use up an attempt. */
const remediations = {
  NETVIRT_UPGRADE_FAILED: `Resolve what the coordinator reports for the nodes. ${maintenance} Then retry the upgrade.`,
  NETVIRT_NODES_NOT_UPGRADED: `Find out in the coordinator why the nodes were skipped. ${maintenance} Then retry the upgrade.`,
  NETVIRT_UPGRADE_STALLED:
    "Find out in the coordinator what the running nodes wait for (often virtual machines that cannot move), then retry the upgrade.",
  NETVIRT_UPGRADE_PAUSED: "Find out who paused the upgrade in the coordinator, then retry the upgrade.",
} as const;
export type NetvirtFailureCode = keyof typeof remediations;

/** A failure of a component that counts against the attempts of the upgrade. */
export class NetvirtFailure extends Error {
  constructor(
    readonly code: NetvirtFailureCode,
    readonly error: DriverError,
  ) {
    super(error.message);
  }
}

/** `what` is a sentence without its full stop; `causes` are the coordinator's own words. */
function netvirtFailure(code: NetvirtFailureCode, what: string, causes: readonly string[] = []): NetvirtFailure {
  const message = causes[0] ? `${what}: ${causes[0]}` : `${what}.`;
  return new NetvirtFailure(
    code,
    new DriverError({ kind: "transient", code, message, remediation: remediations[code], causes }),
  );
}
