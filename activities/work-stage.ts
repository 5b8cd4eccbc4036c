/**
 * Where the work of an Activity stands, which decides what an answer means (docs/failures.md, Outages). FIRST_CONTACT: nothing
 * has been begun, and an answer is taken as it is. IN_WORK: something of the upgrade is in work or has been changed, so that
 * what a manager that is unwell for a moment could have answered is waited out. It belongs to the Activity and not to the
 * process, so that a worker that starts anew knows it as well.
 */
export type WorkStage = "FIRST_CONTACT" | "IN_WORK";
