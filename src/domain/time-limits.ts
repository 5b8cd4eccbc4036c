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
