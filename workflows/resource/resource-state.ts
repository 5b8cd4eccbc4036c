import { CancellationScope, condition, setCurrentDetails, setHandler, upsertMemo } from "@temporalio/workflow";
import type { ClosureFound } from "../../activities/contract";
import type { ResourceChecksPlan } from "../../src/domain/checks/own-check";
import type { ErrorBody } from "../../src/domain/errors";
import { type Closed, type MaintenancePlace, closedFor } from "../../src/domain/opening";
import { ignoreCalendar } from "../../src/domain/plan/maintenance-override";
import type { SubTask } from "../../src/domain/spec/task";
import type { CheckProgress } from "../../src/domain/task/check-stages";
import type { StageLeft, StageProgress } from "../../src/domain/task/resource-stages";
import type { HostCounts, ResourceOutcome } from "../../src/domain/task/sub-task";
import type { VersionCounts } from "../../src/domain/upgrade/upgrade-facts";
import { currentTime, now } from "../clock";
import { describeResource, closedWhile, pausedWhile } from "../details";
import { closureIn } from "../failures";
import { lookAtClosure } from "../closure-look";
import { interruptible } from "../interruptible";
import { InternalSignals } from "../internal-signals";
import {
  type BeginPayload,
  type FailedHost,
  type HostsReport,
  hostsSignal,
  type ResourceMemo,
  type ResourceResult,
  subTaskQuery,
} from "../messages";
import { PauseGate } from "./pause-gate";
import { ResourceChecks } from "./resource-checks";
import { ResourceLog } from "./resource-log";
import { tellUpgrade } from "./tell-upgrade";

/** What happens to any resource. */
export type CommonEvent<S extends string> =
  | { readonly type: "PauseChanged"; readonly paused: boolean }
  | { readonly type: "ClosureChanged"; readonly closed?: Closed }
  | StageProgress<S>
  | StageLeft<S>
  | CheckProgress;

/** Whose part of an upgrade it is. */
interface ResourceOf {
  readonly upgradeId: string;
  readonly resourceId: string;
  readonly places: readonly MaintenancePlace[];
  readonly name: string;
  readonly checked?: ResourceChecksPlan;
}

/** What an end tells beside its outcome: what went wrong, or a sentence for the SubTask's description. */
export interface EndDetails {
  readonly error?: ErrorBody | undefined;
  readonly remark?: string | undefined;
}

/** How long after one report of counts the next one is sent at the earliest (milliseconds), and what its timer is called. */
const countsEvery = 10_000;
const summary = "before the upgrade is told of more hosts";

/** The SubTask of a resource while its Workflow runs, and everywhere that it is shown. `S` are the types of its stages. */
export abstract class ResourceState<ProgressEvent extends { readonly type: string }, S extends string> {
  protected lastError: string | undefined;
  private doing = "";
  private readonly log: ResourceLog;
  private ended = false;
  private published = 0;
  private countsChanged = false;
  /** Whether what changed is more than counts, so that the upgrade has to know it at once. */
  private reportIsUrgent = false;
  /** When the upgrade was last told (epoch milliseconds). */
  private reportedAt = 0;
  private reporting: Promise<void> | undefined;
  /** Hosts that have failed since the upgrade was last told. */
  private failedHosts: FailedHost[] = [];
  private isAtRest = false;
  /** From its upgrade; operators send none to a resource. */
  readonly signals = new InternalSignals();
  /** Why a freeze keeps it from beginning what comes next. */
  private closed: Closed | undefined;
  /** Checks of the inventory that it asks. */
  readonly checks: ResourceChecks;
  /** It is upgraded, and checks are asked after it. */
  private isUnchecked = false;
  /** Findings of its prechecks that were acknowledged before it began. */
  acknowledged: NonNullable<BeginPayload["acknowledged"]> = [];
  /** When the maintenance window closes that it has waited for (epoch milliseconds). */
  private windowClosesAt: number | undefined;
  /** Where the resource stays while its upgrade is paused. */
  readonly pause = new PauseGate();
  /** The places that must be open for what begins now. */
  private places: readonly MaintenancePlace[];

  protected constructor(
    private readonly of: ResourceOf,
    protected subTask: SubTask,
  ) {
    this.places = of.places;
    this.log = new ResourceLog({ resourceId: of.resourceId, name: subTask.resources?.[0]?.name });
    const { upgradeId, resourceId, name, checked } = of;
    this.checks = new ResourceChecks(
      {
        ...{ upgradeId, resource: { resourceId, name }, signals: this.signals },
        record: (progress) => this.record(progress),
        // No memo: a check that is asked for each host would fill the history with the hosts of a large cluster.
        closureChanged: (closed) => this.closureChanged(closed, () => this.show()),
        stay: (until) => this.pause.stay(until),
      },
      checked,
    );
    setHandler(subTaskQuery, () => ({ ...this.subTask, published: this.published }), {
      description: "The resource with its hosts or components, as on the Task of its upgrade.",
    });
    // Last: a pause that has come before is told at once.
    this.pause.listen(this.signals, (paused) => {
      this.record({ type: "PauseChanged", paused });
      this.publish();
      this.rests(paused && (this.pause.isReached || this.subTask.waitingFor !== undefined));
    });
    this.pause.onReached = () => this.rests(true);
  }

  /** Its turn has come. */
  begun({ acknowledged = [] }: BeginPayload): void {
    this.acknowledged = acknowledged;
  }

  /** Its upgrade waits for no maintenance window any more. What waits for one looks again. */
  ignoreWindows(): void {
    this.places = ignoreCalendar(this.places);
    this.windowClosesAt = undefined;
  }

  /** The plan of the resource with the places that must be open now. */
  protected current<P extends Pick<ResourceOf, "places">>(plan: P): P {
    return { ...plan, places: this.places };
  }

  /** Tells the upgrade whether something of the resource is still being done while it is paused. */
  private rests(isAtRest: boolean): void {
    if (isAtRest === this.isAtRest) return;
    this.isAtRest = isAtRest;
    this.report();
  }

  /**
   * Waits for the end of the freeze that has kept an Activity from beginning something, and then of a pause. What there is to say
   * of it is said here, whatever it was.
   */
  async untilOpen(found: ErrorBody): Promise<void> {
    this.windowClosesAt = undefined;
    for (let error: ErrorBody | undefined = found; error;) {
      const { places } = this;
      const known: string = error.message;
      this.closureChanged(closedFor(error));
      const next: ClosureFound | undefined = await interruptible(
        () => lookAtClosure({ places, known }),
        () => this.places !== places,
      );
      if (next) ({ error, closesAt: this.windowClosesAt } = next);
    }
    this.closureChanged(undefined);
    await this.pause.pass();
  }

  /** Asks the checks of the inventory that come after its upgrade, which begins nothing else meanwhile. */
  async checkAfterwards(): Promise<void> {
    if (!this.checks.has("AFTER_RESOURCE")) return;
    this.isUnchecked = true;
    this.report();
    await this.checks.pass("AFTER_RESOURCE");
  }

  /** Does what begins something, again after each freeze that has kept it from that. */
  async beginning<T>(begin: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await begin();
      } catch (failure) {
        const closed = closureIn(failure);
        if (!closed) throw failure;
        await this.untilOpen(closed);
      }
    }
  }

  private closureChanged(closed: Closed | undefined, show = () => this.publish()): void {
    this.closed = closed;
    this.record({ type: "ClosureChanged", ...(closed && { closed }) });
    show();
    this.report();
  }

  /** The SubTask after an event. Pure. */
  protected abstract apply(event: ProgressEvent | CommonEvent<S>, at: string): SubTask;
  /** How many of the resource's parts are done. */
  protected abstract counts(): HostCounts;
  /** The same, where the upgrade is told of them. */
  protected countsToReport(): HostCounts {
    return this.counts();
  }
  /** How many hosts run which version, as last read; undefined of what has no hosts. */
  protected versions(): VersionCounts | undefined {
    return undefined;
  }
  /** What the counted parts are called in the Web UI; undefined where they are not shown. */
  protected abstract readonly counted: string | undefined;
  /** What happens at the end. */
  protected abstract ending(outcome: ResourceOutcome, details: EndDetails): ProgressEvent;
  /** Ids of the hosts that run the target version because of this upgrade. */
  protected abstract upgradedHosts(): readonly string[];

  /** Records what has happened; cheap, shown by the next Query. */
  record(event: ProgressEvent | CommonEvent<S>): void {
    const before = this.subTask;
    this.subTask = this.apply(event, now());
    this.log.happened(event.type, before, this.subTask);
    this.failedHosts.push(...failedHosts(before, this.subTask));
    const error = "error" in event ? (event.error as ErrorBody | undefined) : undefined;
    this.lastError = error?.message ?? this.lastError;
  }

  /** A change of phase: says where the resource stands in the Web UI, and in the memo for when no worker answers. */
  publish(doing = this.doing): void {
    if (doing !== this.doing && !this.ended) this.log.entered(doing);
    this.doing = doing;
    this.show();
    this.published += 1;
    const { subTask, published } = this;
    const { upgradeId } = this.of;
    upsertMemo({ upgradeId, subTask, published, publishedAt: now() } satisfies Omit<
      ResourceMemo,
      "upgradeName" | "resourceName"
    >);
  }

  /** Says in the Web UI where the resource stands. */
  protected show(): void {
    const doing = this.closed !== undefined && !this.ended ? closedWhile(this.closed) : this.doing;
    const headline = this.pause.closed && !this.ended ? pausedWhile(doing) : doing;
    const works = ({ type, status }: SubTask) => type === "HOST_UPGRADE" && status === "IN_PROGRESS";
    const inWork = (this.subTask.subTasks ?? []).filter(works).map(nameOf);
    const { lastError } = this;
    setCurrentDetails(describeResource({ doing: headline, counts: this.countLines(), inWork, lastError }));
  }

  /**
   * Tells the upgrade how many parts are done, and which hosts have failed. Nobody waits for that: what changes while it is
   * being told is told by the next Signal, all at once. {@link reported} waits for the last one.
   */
  report(): void {
    this.reportIsUrgent = true;
    this.reportSoon();
  }

  /** Tells of counts alone: so long after what was told before that hosts which end within seconds are told together. */
  protected reportSoon(): void {
    this.countsChanged = true;
    // The end of a cancelled resource is told as well.
    this.reporting ??= CancellationScope.nonCancellable(() => this.sendCounts());
  }

  /** Ends when the upgrade knows all that was reported. To be awaited before the Workflow ends, which sends nothing more. */
  async reported(): Promise<void> {
    if (this.failedHosts.length > 0) this.report();
    this.reportIsUrgent = true;
    while (this.reporting) await this.reporting;
  }

  private async sendCounts(): Promise<void> {
    while (this.countsChanged) {
      const early = this.reportedAt + countsEvery - currentTime();
      const isUrgent = () => this.reportIsUrgent || this.failedHosts.length > 0;
      if (early > 0 && !isUrgent()) await condition(isUrgent, early, { summary });
      this.countsChanged = this.reportIsUrgent = false;
      this.reportedAt = currentTime();
      const failed = this.failedHosts.splice(0);
      const versions = this.versions();
      const report: HostsReport = {
        resourceId: this.of.resourceId,
        hosts: this.countsToReport(),
        ...(versions && { versions }),
        ...((this.isAtRest || this.closed !== undefined) && { isAtRest: true }),
        ...(this.closed !== undefined && { closed: this.closed }),
        ...(this.isUnchecked && { isUnchecked: true }),
        ...(this.windowClosesAt !== undefined && { windowClosesAt: this.windowClosesAt }),
        ...(this.lastError !== undefined && { lastError: this.lastError }),
        ...(failed.length > 0 && { failedHosts: failed }),
      };
      await tellUpgrade(hostsSignal, report);
    }
    this.reporting = undefined;
  }

  /** The end, in the Task, the memo and the Web UI; gives the result for the upgrade. */
  end(outcome: ResourceOutcome, doing: string, details: EndDetails = {}): ResourceResult {
    const { error } = details;
    this.ended = true;
    this.record(this.ending(outcome, details));
    if (error) this.lastError = error.message;
    this.log.ended(doing, this.counts(), error);
    this.publish(doing);
    const versions = this.versions();
    return {
      outcome,
      hosts: this.counts(),
      upgradedHosts: this.upgradedHosts(),
      ...(versions && { versions }),
      ...(error && { error }),
    };
  }

  private countLines(): string[] {
    const { upgraded, skipped, total, failed } = this.counts();
    if (this.counted === undefined || total === 0) return [];
    return [`${this.counted}: **${upgraded + skipped} of ${total}** at the target, ${failed} failed.`];
  }
}

/** Ids of parts that were upgraded. */
export function upgradedIds(parts: readonly SubTask[]): readonly string[] {
  return parts
    .filter(({ status }) => status === "SUCCESSFUL")
    .flatMap(({ resources }) => resources?.[0]?.resourceId ?? []);
}

/** Hosts in work before that have failed since, without what a cancellation has cut short. */
function failedHosts(before: SubTask, { subTasks = [] }: SubTask): FailedHost[] {
  if (before.subTasks === subTasks) return [];
  const inWork = new Set(before.subTasks?.filter(({ status }) => status === "IN_PROGRESS").map(nameOf));
  return subTasks
    .filter(({ type, status, name }) => type === "HOST_UPGRADE" && status === "FAILED" && inWork.has(name))
    .flatMap(({ name, resources, errors, completionTimestamp = now() }) => {
      const error = errors?.at(-1);
      if (error?.errorCode === "CANCELLED") return [];
      const { errorCode, message } = error ?? {};
      return [
        {
          id: resources?.[0]?.resourceId ?? name,
          name,
          at: completionTimestamp,
          ...(errorCode !== undefined && { errorCode }),
          ...(message !== undefined && { message: message.slice(0, 1024) }),
        },
      ];
    });
}

function nameOf({ name }: SubTask): string {
  return name;
}
