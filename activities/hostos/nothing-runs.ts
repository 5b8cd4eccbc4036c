/** The host is not being upgraded and must not be any more, because the upgrade was cancelled. */
export class NothingRuns extends Error {}
