/**
 * How long a plan's Activities are tried whose failures use up no attempt of the request, beside the limits that the
 * worker sets inside of them. Kept in the plan, because a Workflow must see the same for as long as it runs.
 */
export interface ActivityWaits {
  /** Reads, and records of how something was found, in minutes. */
  readonly readMinutes: number;
  /** The prechecks of one resource, in minutes. */
  readonly precheckMinutes: number;
  /** Putting settings back, in hours. */
  readonly restoreHours: number;
  /** Taking back a migration of a management server, in hours. */
  readonly takeBackHours: number;
}

/** Those of plans that say nothing: accepted by a version that could not set them. */
export const defaultActivityWaits: ActivityWaits = {
  readMinutes: 30,
  precheckMinutes: 60,
  restoreHours: 24,
  takeBackHours: 4,
};
