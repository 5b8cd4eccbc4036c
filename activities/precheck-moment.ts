/** When prechecks are run. */
export interface PrecheckMoment {
  /**
   * Something of the upgrade has been begun or done: trouble with the component manager is waited out. Absent at the first contact,
   * where it is told at once.
   */
  readonly inWork?: true;
}
