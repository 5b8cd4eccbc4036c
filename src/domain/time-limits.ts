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

/**
 * How long things may take within an Activity, all in milliseconds. They are the worker's, while those around an Activity
 * are kept in the plan (`ActivityWaits`); docs/configuration.md has both in one table.
 */
export interface TimeLimits {
  /** One HTTP exchange. */
  readonly callTimeout: number;
  /** How long a component manager that does not answer is waited for before the work is given up. */
  readonly outage: number;
  /** How long an answer is waited for in what is short, or asked again by Temporal. */
  readonly answer: number;
  /** How long a remediation may go on without any progress. */
  readonly stall: number;
  /** How long a host may stay away after its remediation. */
  readonly reconnect: number;
  /** How long a host may take to show what a task of its has done. */
  readonly settle: number;
  /** Between two looks at something that is in work; grows from `min` to `max` while nothing changes. */
  readonly poll: { readonly min: number; readonly max: number };
  /** How long another operation on the cluster is waited for. */
  readonly operationBusy: number;
  /** How long a management server may be away while it is upgraded itself. */
  readonly mgmtAbsence: number;
  /** How long an update or migration of a management server may go on without any progress. */
  readonly mgmtStall: number;
  /** How long a cluster may take to be healthy again before no further host of it is begun. */
  readonly healthGate: number;
}
