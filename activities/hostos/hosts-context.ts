import type { ActivityLimits } from "../activity-dependencies";
import type { RemediateHostsInput } from "../contract";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { Patience } from "../patience";
import type { HostMaintenance } from "./host-maintenance";
import type { HostsProgressTracker } from "./hosts-progress";

/** What every step of the remediation of several hosts works with. */
export interface HostsRemediationContext {
  readonly client: VlcmClient;
  readonly maintenance: HostMaintenance;
  readonly input: RemediateHostsInput;
  readonly limits: ActivityLimits;
  readonly progress: HostsProgressTracker;
  readonly patience: Patience;
}
