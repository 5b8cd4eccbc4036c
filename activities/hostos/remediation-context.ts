import type { ActivityLimits } from "../activity-dependencies";
import type { RemediateHostInput } from "../contract";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { Patience } from "../patience";
import type { HostProgressTracker } from "./host-progress";
import { type ReportedCode, type ReportedFailure, reportedFailure } from "./reported-failure";

/** What every step of one host's remediation works with. */
export interface RemediationContext {
  readonly client: VlcmClient;
  readonly input: RemediateHostInput;
  readonly limits: ActivityLimits;
  readonly progress: HostProgressTracker;
  readonly patience: Patience;
}

/** A failure of this host that counts. `what` goes on after the host's name, without a full stop. */
export function hostFailure(
  { input }: Pick<RemediationContext, "input">,
  code: ReportedCode,
  what: string,
  causes: readonly string[] = [],
): ReportedFailure {
  return reportedFailure(code, `Host ${input.host.fqdn} ${what}`, causes);
}
