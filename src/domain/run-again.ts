/** What a run has to know of earlier runs of its Activity, of which none has ended with a result. */
export interface RunAgain<Progress> {
  /**
   * What an earlier run knew when it was lost: attach to its remote task, keep its count. Where this is not given no run has
   * changed anything: every change is preceded by an answered heartbeat (docs/decisions/0037).
   */
  readonly resume?: Progress;
  /**
   * The upgrade was cancelled while no worker ran this Activity: bring what runs to an end as after a cancellation, start
   * nothing, and throw CancelledFailure unless the work has succeeded.
   */
  readonly stop?: true;
}
