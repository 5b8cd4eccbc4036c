import { condition } from "@temporalio/workflow";
import type { ErrorBody } from "../../src/domain/errors";
import { currentTime } from "../clock";
import { checkAcceptedSignal, type CheckFailed } from "../messages";
import type { HeldResource } from "./host-skips";
import type { KnownResources } from "./known-resources";
import type { UpgradeActivity } from "./upgrade-activity";

/** An upgrade that a check can pause. */
interface PausableUpgrade {
  readonly activity: Pick<UpgradeActivity, "checkFailed">;
  readonly warnings: ErrorBody[];
  enter(phase: "PAUSED", errors: readonly ErrorBody[]): void;
  untilResumed(): Promise<void>;
}

interface UpgradeInWork extends PausableUpgrade {
  readonly cancelling: boolean;
  readonly paused: boolean;
  readonly known: Pick<KnownResources, "isInWork">;
  readonly locked: ReadonlyMap<string, HeldResource>;
}

/** What checks that the Workflows of resources ask keep from beginning in the rest of their upgrade. */
export class ResourceCheckGate {
  /** Grows with every change, so that a wait can notice one. */
  changes = 0;
  /** Ids of resources that are upgraded, and of which the checks after it have not passed yet. */
  private readonly unchecked = new Set<string>();
  private failed: ErrorBody | undefined;
  private openedAt = 0;

  constructor(private readonly state: UpgradeInWork) {}

  /** Another attempt begins. */
  reset(): void {
    this.unchecked.clear();
    this.failed = undefined;
  }

  /** Whether nothing further may begin now. */
  get isClosed(): boolean {
    return this.failed !== undefined || this.unchecked.size > 0;
  }

  /** Why a check has failed the upgrade: what has not begun does not begin in this attempt. */
  get failure(): ErrorBody | undefined {
    return this.failed;
  }

  /** Until when a check has kept the rest from beginning (epoch milliseconds); 0 where none has. */
  get heldUntil(): number {
    return this.openedAt;
  }

  /** Whether checks after a resource are asked. */
  resourceIs(resourceId: string, isUnchecked: boolean): void {
    if (this.unchecked.has(resourceId) === isUnchecked) return;
    if (isUnchecked) this.unchecked.add(resourceId);
    else this.unchecked.delete(resourceId);
    this.openedAt = currentTime();
    this.changes++;
  }

  /** A check of a resource in work has not passed. */
  checkFailed(failed: CheckFailed): void {
    const { known, cancelling } = this.state;
    if (cancelling || !known.isInWork(failed.resourceId)) return;
    if (failed.onFailure === "FAIL") {
      this.failed ??= failed.error;
      this.changes++;
    } else {
      // Ends early only with the upgrade.
      this.pause(failed).catch(() => undefined);
    }
  }

  private async pause({ resourceId, number, error }: CheckFailed): Promise<void> {
    // It has begun, so it does not wait for approvals that are wanted for what has not.
    await pauseForCheck(this.state, error, () => condition(() => !this.state.paused));
    await this.state.locked.get(resourceId)?.tell(checkAcceptedSignal, number);
  }
}

/** Pauses the upgrade because of a check, until somebody resumes it, who accepts that the check has not passed. */
export async function pauseForCheck(
  state: PausableUpgrade,
  error: ErrorBody,
  untilResumed = () => state.untilResumed(),
): Promise<void> {
  state.activity.checkFailed(error);
  state.enter("PAUSED", [error]);
  await untilResumed();
  if (state.warnings.every(({ message }) => message !== error.message)) state.warnings.push(error);
}
