import type { ReportedCode } from "../../src/domain/reported-failures";

/** A failure of one host that the component manager reports: it counts against the host's attempts. */
export class HostFailure extends Error {
  /** `what` is wrong, a sentence that goes on after the host's name; `causes` are the component manager's own words. */
  constructor(
    readonly code: ReportedCode,
    readonly what: string,
    readonly causes: readonly string[] = [],
  ) {
    super(what);
  }
}

/** Whoever put the host into maintenance mode wants it there; taking it out is not ours. */
export const heldByOthers = new HostFailure(
  "HOST_IN_MAINTENANCE_MODE",
  "is in maintenance mode, where this upgrade has not put it.",
);

/** The cluster does not list the host any more. */
export const leftCluster = new HostFailure("HOST_LEFT_CLUSTER", "has left its cluster.");

/** `what` goes on after the host's name, without a full stop: the first of the causes follows it. */
export function hostFailure(code: ReportedCode, what: string, causes: readonly string[] = []): HostFailure {
  return new HostFailure(code, causes[0] ? `${what}: ${causes[0]}` : `${what}.`, causes);
}
