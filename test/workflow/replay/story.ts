import type { RunningUpgrade } from "../../support/running-upgrade";
import type { UpgradeBench } from "../../support/upgrade-bench";

/** One course that an upgrade can take, told to be recorded. */
export interface Story {
  /** How the upgrade's Workflow has closed when it has been told, or that it is still open; CONTINUED_AS_NEW: its first run. */
  readonly ends: "COMPLETED" | "FAILED" | "CANCELED" | "TERMINATED" | "OPEN" | "CONTINUED_AS_NEW";
  /** The server to tell it on; the one that the service embeds unless days have to pass. */
  readonly server?: "TIME_SKIPPING";
  /** Further settings of that server, written `name=value`. */
  readonly settings?: readonly string[];
  /** The Workflow ID of a freeze that is recorded beside it. */
  readonly freeze?: string;
  /** That of a hold. */
  readonly hold?: string;
  /** That of a readiness check. */
  readonly readiness?: string;
  /** Takes an upgrade to where its history is to be recorded. */
  tell(bench: UpgradeBench): Promise<RunningUpgrade>;
}

/** Task and Upgrade of a failed upgrade, as `RunningUpgrade.statuses` gives them. */
export const failed = "Failed / COMPLETED_WITH_FAILURE";
/** Task and Upgrade of a draft whose prechecks have ended. */
export const draftWaiting = "Pending / DRAFT";
/** Task and Upgrade of an upgrade that waits for its time. */
export const scheduled = "Pending / SCHEDULED";

/** Hosts of each cluster in most stories: one that is done when the other is in work. */
export const hostCount = 2;
