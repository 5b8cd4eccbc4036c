import type { UpgradeNotification } from "../src/domain/notifications/upgrade-notification";
import type { LostBecause } from "../src/domain/task/lost-upgrade";

export interface NotificationInput {
  /** Id of the receiver in the inventory; where it is and its secrets stay with the worker. */
  readonly receiver: string;
  readonly notice: UpgradeNotification;
}

/** `GONE`: the receiver wants no notifications any more (HTTP 410). */
export interface NotificationResult {
  readonly outcome: "DELIVERED" | "GONE";
}

/** How the Workflow of an upgrade stands. */
export interface UpgradeEnd {
  readonly isRunning: boolean;
  /** Why it ended without a word; absent where it runs or has told its end. */
  readonly reason?: LostBecause;
}

/** The Activities that tell receivers of notifications. */
export interface NotificationActivities {
  /**
   * Sends a notification to a receiver once; everything but an answer 2xx or 410 is a failure that is tried again.
   * A notification may arrive more than once, always with the same id.
   */
  deliverNotification(input: NotificationInput): Promise<NotificationResult>;
  /** Whether the Workflow of an upgrade runs, in whichever of its runs, and whether it has ended without a word. */
  readUpgradeEnd(input: { readonly upgradeId: string }): Promise<UpgradeEnd>;
}
