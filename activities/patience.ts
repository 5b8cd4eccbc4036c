// The names of the retry policy that the remediation of hosts still uses.
import type { DriverError } from "./drivers/driver-error";
import { GiveUpError } from "./retry-policy";

export type { RetryPolicy as Patience } from "./retry-policy";

/** The error of a wait that took too long. */
export const gaveUp = (error: DriverError, after: number) => new GiveUpError(error, after);
