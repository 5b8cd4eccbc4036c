/** The host is not being upgraded, and this run must not begin with it. */
export class NothingRuns extends Error {}
