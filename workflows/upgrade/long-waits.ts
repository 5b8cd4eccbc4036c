import { condition, isCancellation, log, proxyActivities } from "@temporalio/workflow";
import type { PendingWait, UpgradeActivities } from "../../activities/contract";
import type { LongWait } from "../../src/domain/notifications/upgrade-notification";
import { hasEnded, type UpgradePhase } from "../../src/domain/spec/upgrade";
import { toEpochMilliseconds, toTimestamp } from "../../src/domain/timestamp";
import { lookOptions } from "../activity-options";
import { currentTime } from "../clock";
import type { UpgradeState } from "./upgrade-state";

/** As LONG_WAIT_MINUTES is by default. */
const defaultMinutes = 60;

/** Phases in which parts of the upgrade do something, which may wait for others. */
const atWork: ReadonlySet<UpgradePhase> = new Set(["ACCEPTED", "DRAFT_PRECHECKS", "RUNNING"]);

const { readUpgradeWaits } = proxyActivities<Pick<UpgradeActivities, "readUpgradeWaits">>(lookOptions());

/**
 * Tells receivers of an upgrade of what it waits for too long, each wait once. What the upgrade itself waits for, it knows; what
 * its parts wait for is read from Temporal every LONG_WAIT_MINUTES, and told where two looks in a row find it. While nothing
 * is in work there is no timer. Without receivers that want to know, it does nothing.
 */
export class LongWaits {
  /** Ends the watch; to be awaited before the Workflow ends. */
  readonly stop: () => Promise<void>;
  private readonly longest: number;
  /** What the last look has found, by its key. */
  private found = new Map<string, Found>();

  constructor(private readonly state: UpgradeState) {
    this.longest = (state.plan.longWaitMinutes ?? defaultMinutes) * 60_000;
    this.stop = state.notices.watchFor("upgrade.wait.long", () => this.run());
  }

  private async run(): Promise<never> {
    for (;;) {
      await condition(() => ownWait(this.state) !== undefined || this.isAtWork);
      const wait = ownWait(this.state);
      if (wait) await this.watchOwn(wait);
      else await this.watchParts();
    }
  }

  private get isAtWork(): boolean {
    return atWork.has(this.state.phase) && !this.state.cancelling;
  }

  /** Ends when the upgrade waits for it no more. */
  private async watchOwn(wait: LongWait & { readonly since: string }): Promise<void> {
    this.found.clear();
    const isOver = () => {
      const now = ownWait(this.state);
      return now?.code !== wait.code || now.since !== wait.since;
    };
    const rest = toEpochMilliseconds(wait.since) + this.longest - currentTime();
    const summary = "until a wait counts as long";
    // One that began long ago was told by an earlier run.
    if (rest > 0 && !(await condition(isOver, rest, { summary }))) this.state.notifier.waitsLong(wait);
    await condition(isOver);
  }

  /** Ends after a look, or when nothing is in work any more. */
  private async watchParts(): Promise<void> {
    const isOver = () => ownWait(this.state) !== undefined || !this.isAtWork;
    const summary = "until the next check for long waits";
    if (await condition(isOver, this.longest, { summary })) return;
    this.compare(await this.look(), currentTime());
  }

  private async look(): Promise<readonly PendingWait[]> {
    const { plan } = this.state;
    try {
      const options = { ...lookOptions(plan.waits), summary: "read what the upgrade waits for" };
      return (await readUpgradeWaits.executeWithOptions(options, [{ upgradeId: plan.id }])).waits;
    } catch (failure) {
      if (isCancellation(failure)) throw failure;
      log.warn("Could not read what the upgrade waits for", { failure });
      return [];
    }
  }

  private compare(waits: readonly PendingWait[], at: number): void {
    const before = this.found;
    this.found = new Map();
    for (const { key, attempt = 0, wait } of waits) {
      const known = before.get(key);
      // A step that has not failed again is at work.
      const goesOn = known?.code === wait.code && (wait.code !== "RETRY" || attempt > known.attempt);
      if (goesOn && !known.told) this.state.notifier.waitsLong({ ...wait, since: toTimestamp(known.since) });
      this.found.set(key, { code: wait.code, attempt, since: goesOn ? known.since : at, told: goesOn });
    }
  }
}

/**
 * What the upgrade itself waits for and only an operator or another upgrade ends; undefined where for nothing. What its parts
 * wait for they know.
 */
function ownWait(state: UpgradeState): (LongWait & { readonly since: string }) | undefined {
  const { cancelling, phase, paused, phaseSince: since, lockHeld } = state;
  const { waitingFor } = state.task;
  if (cancelling || hasEnded(phase)) return undefined;
  if (paused) return { code: "RESUME", message: "An operator paused the upgrade and must resume it.", since };
  if (waitingFor) return { since, ...waitingFor };
  const { approvalsWanted: message } = state.publication;
  if (message !== undefined && (phase === "SCHEDULED" || phase === "RUNNING"))
    return { code: "APPROVAL", message, since };
  return lockHeld;
}

interface Found {
  readonly code: string;
  readonly attempt: number;
  /** When it was seen first (epoch milliseconds). */
  readonly since: number;
  readonly told: boolean;
}
