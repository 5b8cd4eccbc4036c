import { CancellationScope, condition, log, proxyActivities } from "@temporalio/workflow";
import type { UpgradeActivities } from "../../activities/contract";
import type { ErrorBody } from "../../src/domain/errors";
import { beginTime } from "../../src/domain/plan/schedule";
import type { ProductPlan, ResourcePlan, UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import { bundleName } from "../../src/domain/spec/bundle";
import { sentence } from "../../src/domain/sentence";
import { lateSeconds } from "../../src/domain/task/late-start";
import { countsText, resourceResultSubTask, resourceTitle } from "../../src/domain/task/resource-progress";
import { toTimestamp } from "../../src/domain/timestamp";
import { readOptions } from "../activity-options";
import { currentTime, now } from "../clock";
import { retryWhileLost } from "../lost-activities";
import type { ResourceResult } from "../messages";
import { HistoryTooLong, isHistoryTooLong } from "./continue-as-new";
import { ClosureGate } from "./closure-gate";
import { Rescheduled } from "./lock-wait";
import { type LockedResource, releaseAll } from "./locked-resource";
import { UpgradeChecks } from "./upgrade-checks";
import { runPrechecks } from "./upgrade-prechecks";
import type { UpgradeState } from "./upgrade-state";

/** Prechecks older than this when a resource becomes due are run again (milliseconds). */
const precheckLifetime = 60 * 60 * 1000;

/**
 * Runs the products one after another, the resources of each in parallel, each from its own time on. The first
 * product that fails ends the upgrade. Gives the errors; none where every resource has succeeded. `heldUntil`: until when the
 * upgrade had to wait for its locks. Throws Rescheduled.
 */
export async function runProducts(
  state: UpgradeState,
  locked: readonly LockedResource[],
  { precheckedAt, heldUntil }: { readonly precheckedAt: number; readonly heldUntil: number },
): Promise<readonly ErrorBody[]> {
  const { products } = state.plan;
  const checks = new UpgradeChecks(state);
  for (const [i, product] of products.entries()) {
    const ids = new Set(product.resources.map(({ resourceId }) => resourceId));
    const mine = locked.filter(({ resource }) => ids.has(resource.resourceId));
    const errors = await new ProductRun(
      state,
      product,
      mine,
      checks,
      precheckedAt,
      i > 0 ? currentTime() : heldUntil,
      i > 0,
    ).run();
    if (errors.length > 0) {
      // The end of a cancelled upgrade says itself what it has not begun.
      if (CancellationScope.current().consideredCancelled) return errors;
      for (const later of products.slice(i + 1)) {
        state.record({ type: "ProductNotBegun", product: later.product, failed: product.product });
      }
      return errors;
    }
  }
  return [];
}

class ProductRun {
  private readonly errors: ErrorBody[] = [];
  /** Of resources that a check of another one keeps from beginning, told after that one's. */
  private notBegun: readonly ErrorBody[] = [];
  private readonly begun: Promise<void>[] = [];
  private waiting: readonly LockedResource[];
  private started = false;
  private readonly closures: ClosureGate;

  constructor(
    private readonly state: UpgradeState,
    private readonly product: ProductPlan,
    resources: readonly LockedResource[],
    private readonly checks: UpgradeChecks,
    private precheckedAt: number,
    /** Since when nothing but the schedule keeps resources from beginning (epoch milliseconds). */
    private readonly readyAt: number,
    private readonly isAfterAnother: boolean,
  ) {
    this.waiting = resources;
    this.closures = new ClosureGate(state);
  }

  async run(): Promise<readonly ErrorBody[]> {
    for (;;) {
      this.dropSkipped();
      if (this.state.checkGate.failure) await this.dropWaiting(this.state.checkGate.failure);
      if (this.waiting.length === 0) break;
      if (this.state.approvals.areLacking) this.restUntilApproved();
      await this.state.untilResumed(() => this.isTooEarly || this.state.checkGate.failure !== undefined);
      if (this.state.checkGate.failure) continue;
      if (this.isTooEarly) throw new Rescheduled();
      this.noteMissed();
      const due = this.waiting.filter((one) => this.timeOf(one) <= currentTime() && this.mayBegin(one));
      if (due.length === 0) await this.waitForNext();
      else await this.beginDue(due);
    }
    await Promise.all(this.begun);
    if (this.started) this.state.record({ type: "ProductEnded", product: this.product.product });
    // What has failed may have been left out since.
    return [...this.errors, ...this.notBegun].filter(
      ({ context }) => !this.state.known.isSkipped({ resourceId: context?.["resourceId"] ?? "" }),
    );
  }

  /** What an operator has left out does not begin; its lock has been released. */
  private dropSkipped(): void {
    this.waiting = this.waiting.filter(({ resource }) => !this.state.known.isSkipped(resource));
  }

  /** A check of the inventory has failed the upgrade: what waits does not begin, which is an error of each. */
  private async dropWaiting(failure: ErrorBody): Promise<void> {
    const { waiting } = this;
    this.waiting = [];
    this.notBegun = waiting.map(({ resource }): ErrorBody => {
      const { resourceId } = resource;
      const message = `${resourceTitle(resource)} was not begun. ${failure.message}`;
      return { ...failure, message, context: { ...failure.context, resourceId } };
    });
    await this.giveUp(waiting, []);
  }

  /** Nothing has begun, and by another schedule the locks are not to be held yet. */
  private get isTooEarly(): boolean {
    if (this.started || this.isAfterAnother || this.closures.size > 0 || this.state.paused) return false;
    return this.state.times.lockTime(this.state.unfinished()) > currentTime();
  }

  /** Nothing has begun yet: the upgrade as a whole is scheduled. */
  private restUntilApproved(): void {
    const { phase, paused } = this.state;
    if (!this.started && !this.isAfterAnother && !paused && phase !== "SCHEDULED") this.state.enter("SCHEDULED");
  }

  private timeOf(resource: LockedResource): number {
    return beginTime(this.current(resource));
  }

  /** The resource with the time and the places that hold now. */
  private current({ resource }: LockedResource): ResourcePlan {
    return this.state.resources.find(({ resourceId }) => resourceId === resource.resourceId) ?? resource;
  }

  /** Has resources wait for a commit that are due so late that nobody may want them to begin now. */
  private noteMissed(): void {
    const missed = this.waiting.filter((one) => this.isMissed(one));
    this.state.startMissed(missed.map((one) => this.current(one)));
  }

  private isMissed(resource: LockedResource): boolean {
    return !this.isKept(resource) && this.state.times.missesStart(this.current(resource), this.readyAtOf(resource));
  }

  private mayBegin(resource: LockedResource): boolean {
    return !this.isKept(resource) && !this.isMissed(resource);
  }

  private isKept({ resource }: LockedResource): boolean {
    return this.state.checkGate.isClosed || this.closures.holds(resource);
  }

  /** Before that it could not begin, for reasons other than its time: that is no delay. */
  private readyAtOf({ resource }: LockedResource): number {
    const { checks, closures, state } = this;
    return Math.max(this.readyAt, closures.heldUntil(resource), checks.heldUntil, state.checkGate.heldUntil);
  }

  /** Waits for the next time or a change of the schedule. Nothing has begun yet: the upgrade as a whole is scheduled. */
  private async waitForNext(): Promise<void> {
    const phase = this.state.awaitsCommit ? "START_MISSED" : "SCHEDULED";
    const { size: closed } = this.closures;
    if (!this.started && closed === 0 && this.state.phase !== phase) this.state.enter(phase);
    const { times, checkGate } = this.state;
    const { changes } = times;
    const { changes: checked } = checkGate;
    const known = { precheckedAt: this.precheckedAt };
    const mayRest = !this.started && !this.isAfterAnother && closed === 0;
    const changed = () =>
      times.changes !== changes ||
      checkGate.changes !== checked ||
      this.closures.size !== closed ||
      (mayRest && isHistoryTooLong(this.state, known));
    const next = Math.min(...this.waiting.filter((one) => this.mayBegin(one)).map((one) => this.timeOf(one)));
    if (!Number.isFinite(next)) await condition(changed);
    else await condition(changed, Math.max(1, next - currentTime()), { summary: this.beginning(next) });
    // A change of the schedule is part of the plan, and is handed on with it.
    if (mayRest && isHistoryTooLong(this.state, known)) throw new HistoryTooLong(known);
  }

  /** What begins at a time, for the timer that waits for it. */
  private beginning(time: number): string {
    const [first, ...others] = this.waiting.filter((one) => this.timeOf(one) === time);
    const what = others.length === 0 ? `${first?.resource.name} starts` : `${others.length + 1} resources start`;
    return `${what} at ${toTimestamp(time)}`;
  }

  private async beginDue(due: readonly LockedResource[]): Promise<void> {
    this.state.enterRunning();
    this.waiting = this.waiting.filter((resource) => !due.includes(resource));
    const recalled = await checkBundle(this.state.plan);
    const failed = recalled.length > 0 ? recalled : await this.precheckAgain(due);
    if (failed.length > 0) return this.giveUp(due, failed);
    const { leftOut } = this.state.known;
    const without = due.filter(({ resource }) => leftOut.has(resource.resourceId));
    if (without.length > 0) await releaseAll(without);
    const left = due.filter((one) => !without.includes(one));
    do {
      await this.state.untilResumed();
      await this.closures.look(left.map((one) => this.current(one)));
    } while (this.state.paused);
    // What has become late meanwhile, while no worker ran for example, waits for its commit with the others.
    const wanted = left.filter(({ resource }) => !this.state.known.isSkipped(resource));
    const inTime = wanted.filter((one) => this.mayBegin(one));
    this.waiting = [...this.waiting, ...wanted.filter((one) => !inTime.includes(one))];
    if (inTime.length === 0) return;
    if (!this.checks.areDone) return this.check(inTime);
    const late = lateSeconds(
      Math.max(...inTime.map((one) => this.state.times.lateness(this.current(one), this.readyAtOf(one)))),
    );
    if (late !== undefined) {
      log.info("Upgrade started late", { seconds: late });
      this.state.record({ type: "StartedLate", seconds: late });
    }
    if (!this.started) this.state.record({ type: "ProductStarted", product: this.product.product });
    this.started = true;
    this.checks.begun();
    await Promise.all(inTime.map((resource) => this.begin(resource)));
    this.state.publish();
  }

  /** Asks the checks of the inventory; what is due then, and may begin, is looked at again. */
  private async check(due: readonly LockedResource[]): Promise<void> {
    const round = await this.checks.run(due.map(({ resource }) => resource));
    if (round.outcome === "FAILED") await this.giveUp(due, [round.error]);
    else this.waiting = [...this.waiting, ...due];
  }

  private async giveUp(due: readonly LockedResource[], failed: readonly ErrorBody[]): Promise<void> {
    this.errors.push(...failed);
    // Nothing has been touched: nothing will be. Resources that already run are not ours to stop.
    const released = this.started ? due : [...due, ...this.waiting];
    if (!this.started) this.waiting = [];
    released.forEach((resource) => resource.release());
    await Promise.all(released.map(({ ended }) => ended));
  }

  private begin(resource: LockedResource): Promise<void> {
    this.state.record({ type: "ResourceStarted", resourceId: resource.resource.resourceId });
    this.begun.push(resource.ended.then((result) => this.resourceEnded(resource, result)));
    return resource.begin();
  }

  private async precheckAgain(due: readonly LockedResource[]): Promise<readonly ErrorBody[]> {
    const resources = due.map(({ resource }) => resource);
    // A pause that begins while they run may last until they are too old as well.
    while (currentTime() - this.precheckedAt > precheckLifetime || this.state.isBlocked(resources)) {
      const stage = this.isAfterAnother || this.started ? "IN_WORK" : "FIRST_CONTACT";
      const failed = await runPrechecks(this.state, this.state.known.unfinished(resources), stage);
      this.precheckedAt = currentTime();
      if (failed.length > 0) return failed;
      await this.state.untilResumed();
    }
    return [];
  }

  private resourceEnded({ resource }: LockedResource, ended: ResourceResult): void {
    const { resourceId } = resource;
    const result = this.state.resourceEnded(resourceId, ended);
    const header = resourceResultSubTask(resource, result, this.state.plan.creationTimestamp, now());
    this.state.record({ type: "ResourceChanged", resourceId, subTask: header });
    if (result.error === undefined) return;
    if (result.outcome === "WITHIN_TOLERANCE") this.state.warnings.push(resourceError(resource, result));
    else this.fail(resourceError(resource, result));
  }

  /** Kept for the upgrade as well: a cancellation may end this run before it can give its errors. */
  private fail(error: ErrorBody): void {
    this.errors.push(error);
    this.state.resourceErrors.push(error);
  }
}

function resourceError(resource: ResourcePlan, { hosts, error }: ResourceResult): ErrorBody {
  const counts = countsText(resource, hosts);
  return {
    errorCode: error?.errorCode ?? "RESOURCE_UPGRADE_FAILED",
    errorType: error?.errorType ?? "UPGRADE",
    message: [`${resourceTitle(resource)}: ${sentence(error?.message ?? "failed")}`, ...counts].join(" "),
    remediationMessage: error?.remediationMessage ?? "Fix what the error names, then retry the upgrade.",
    context: { resourceId: resource.resourceId, ...error?.context },
    ...(error && { nestedErrors: [error] }),
  };
}

const reads = proxyActivities<Pick<UpgradeActivities, "checkBundle">>(readOptions());

/**
 * Asks a worker whether the bundle of an upgrade may still be installed: it may have been recalled since the upgrade was
 * accepted. Gives the error that says why not, or none.
 */
export async function checkBundle({ id, bundle, waits }: UpgradePlan): Promise<readonly ErrorBody[]> {
  const options = {
    ...readOptions(waits),
    summary: `check that bundle ${bundleName(bundle).slice(0, 200)} can still be installed`,
  };
  const { error } = await retryWhileLost(waits, () =>
    reads.checkBundle.executeWithOptions(options, [{ bundleId: bundle.id, upgradeId: id }]),
  );
  return error ? [error] : [];
}
