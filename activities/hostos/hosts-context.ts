import type { ActivityLimits } from "../activity-dependencies";
import type { RemediateHostsInput } from "../contract";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { Patience } from "../patience";
import type { HostMaintenance } from "./host-maintenance";
import type { HostsProgressTracker } from "./hosts-progress";

/** What every step of the remediation of several hosts works with. */
export interface HostsRemediationContext {
  readonly client: VlcmClient;
  readonly maintenance: HostMaintenance;
  /** The management interface of the same component manager, which alone knows single virtual machines. */
  readonly management: Vim25Client;
  readonly input: RemediateHostsInput;
  readonly limits: ActivityLimits;
  readonly progress: HostsProgressTracker;
  readonly patience: Patience;
}
