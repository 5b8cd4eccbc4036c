import type { HostRemediationOptions } from "../../src/domain/task/host-remediation";
import type { RetryPolicy } from "../retry-policy";

/**
 * Maintenance mode of single hosts, for which the lifecycle manager has no call of its own. Ids are the component
 * manager's. Every method may be repeated, waits for the end of what it asks for, ends with the retryPolicy's interruption,
 * and throws DriverError.
 */
export interface HostMaintenance {
  /**
   * Resolves when the host is in maintenance mode, its virtual machines treated as the options say. That the host does
   * not get there, which is its own failure, is a DriverError with the code HOST_MAINTENANCE_MODE_FAILED.
   */
  enter(host: string, options: HostRemediationOptions, retryPolicy: RetryPolicy): Promise<void>;
  /**
   * Resolves when the host is out of maintenance mode and its virtual machines are as they were. An entry that is
   * under way, because a run was stopped in between, is cancelled.
   */
  exit(host: string, retryPolicy: RetryPolicy): Promise<void>;
  /** The hosts of a cluster that are in maintenance mode or on their way into it. */
  inMaintenance(cluster: string, retryPolicy: RetryPolicy): Promise<ReadonlySet<string>>;
  /** The same of one host. */
  isInMaintenance(host: string, retryPolicy: RetryPolicy): Promise<boolean>;
}
