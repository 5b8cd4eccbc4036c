/** What of an entry of the simulator's ledger tells whether a host is out of service. */
interface LedgerLine {
  readonly step: string;
  readonly cluster?: string;
  readonly host?: string;
}

/**
 * The most hosts of a cluster that were out of service at the same moment, from the simulator's ledger: a host is that
 * from the request for maintenance mode until it has left it, also where it failed in between.
 */
export function mostOutOfService(ledger: readonly LedgerLine[], cluster: string): number {
  const out = new Set<string>();
  let most = 0;
  for (const { step, host, cluster: of } of ledger) {
    if (of !== cluster || host === undefined) continue;
    if (step === "MAINTENANCE_REQUESTED" || step === "MAINTENANCE_ENTERED") out.add(host);
    if (step === "MAINTENANCE_EXITED" || step === "CANCELLED") out.delete(host);
    most = Math.max(most, out.size);
  }
  return most;
}
