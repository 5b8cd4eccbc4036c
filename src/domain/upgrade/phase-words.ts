import type { PublishedPhase } from "../spec/upgrade";

/** What people call the phases, in the console and on the command line. */
export const phaseWords: Readonly<Record<PublishedPhase, string>> = {
  DRAFT_PRECHECKS: "Draft, prechecks running",
  DRAFT_READY: "Draft, ready",
  PRECHECKS_FAILED: "Draft, prechecks failed",
  SCHEDULED: "Scheduled",
  WAITING: "Waiting",
  RUNNING: "Running",
  PAUSING: "Pausing",
  PAUSED: "Paused",
  CANCELLING: "Cancelling",
  ACTION_REQUIRED: "Needs you",
  SUCCEEDED: "Successful",
  SUCCEEDED_WITH_WARNINGS: "Successful with warnings",
  RESOLVED: "Given up",
  CANCELLED: "Cancelled",
  FAILED: "Failed",
};
