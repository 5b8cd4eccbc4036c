/** What `upgradectl` ends with, so that a script can tell the cases apart (docs/upgradectl.md). */
export const exitCode = {
  successful: 0,
  /** The upgrade failed or was cancelled, or the service failed. */
  failed: 1,
  wrongUsage: 2,
  /** Nothing answers at the server's address, or not as this service does. */
  notReachable: 3,
  /** The service understood and said no. */
  refused: 4,
  /** What shells expect of a program that Ctrl-C has ended. */
  interrupted: 130,
} as const;

/** One of them. */
export type ExitCode = (typeof exitCode)[keyof typeof exitCode];
