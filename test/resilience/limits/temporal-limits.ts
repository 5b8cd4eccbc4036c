const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/**
 * What Temporal allows one Workflow by default (`limit.*` and `history.*` of its dynamic configuration); beyond it the
 * Workflow is ended, its task fails again and again, or a call is refused. Sizes in bytes.
 */
export const temporalLimits = {
  events: 51_200,
  historyBytes: 50 * mebibyte,
  payloadBytes: 2 * mebibyte,
  memoBytes: 2 * mebibyte,
  searchAttributeBytes: 40 * kibibyte,
  /** One gRPC message that the server takes from a client or worker. */
  messageBytes: 4 * mebibyte,
  signalsReceived: 10_000,
  pendingActivities: 2000,
  pendingChildren: 2000,
  pendingSignals: 2000,
} as const;

/** A kind of limit; also what is measured of a Workflow for it. */
export type Limited = keyof typeof temporalLimits;

export const limitedKinds = Object.keys(temporalLimits) as readonly Limited[];
