/** What a run has to know of earlier runs of its Activity, of which none has ended with a result. */
export interface RunAgain<Progress> {
  /** What an earlier run knew when it was lost: attach to its remote task, keep its count. */
  readonly resume?: Progress;
  /**
   * An earlier run was lost, and may have asked for what nothing is known of: the Timestamp at which the first run was
   * scheduled, after which whatever was asked for may be its doing.
   */
  readonly lost?: string;
  /**
   * The upgrade was cancelled while no worker ran this Activity: bring what runs to an end as after a cancellation, start
   * nothing, and throw CancelledFailure unless the work has succeeded.
   */
  readonly stop?: true;
}
