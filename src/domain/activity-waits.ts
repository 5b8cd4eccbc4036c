/**
 * How long the Activities of a plan are tried and may hang, beside the limits that the worker sets inside of them. Kept
 * in the plan, because a Workflow must see the same for as long as it runs.
 */
export interface ActivityWaits {
  /** Reads, and records of how something was found, in minutes. */
  readonly readMinutes: number;
  /** One run of a read or a restore, in seconds: a worker is patient for less, so that it can say what was wrong. */
  readonly readRunSeconds: number;
  /** One run of a read of all the nodes of a NETVIRT instance, in minutes. */
  readonly netvirtReadMinutes: number;
  /** The prechecks of one resource, in minutes; one run of them takes a third of that. */
  readonly precheckMinutes: number;
  /** Putting settings back, in hours. */
  readonly restoreHours: number;
  /** Taking back a migration of a management server, in hours. */
  readonly takeBackHours: number;
  /** An Activity without a sign of life, in seconds. */
  readonly heartbeatSeconds: number;
  /** One call to a component manager, in seconds: what a lost run has asked for may be on its way for so long. */
  readonly callSeconds: number;
  /** One run of an Activity that gets on all the time, in days. */
  readonly stepDays: number;
  /** How often an Activity may be lost, with its worker or by one of the two limits above, before it counts as failed. */
  readonly lostRuns: number;
}

/** The waits that hold where the configuration says nothing else. */
export const defaultActivityWaits: ActivityWaits = {
  readMinutes: 60,
  readRunSeconds: 150,
  netvirtReadMinutes: 20,
  precheckMinutes: 60,
  restoreHours: 24,
  takeBackHours: 4,
  heartbeatSeconds: 15,
  callSeconds: 30,
  stepDays: 7,
  lostRuns: 200,
};
