import type { MgmtPrecheckInput } from "../activities/contract";
import type { MgmtUpgradePlan } from "../src/domain/upgrade-plan";

/** What Activities are told of a management server's part of an upgrade. */
export function mgmtTargetOf({
  resourceId,
  name,
  componentManagerId,
  targetVersion,
  mechanism,
  temporaryNetwork,
}: MgmtUpgradePlan): MgmtPrecheckInput {
  return {
    server: { resourceId, name, componentManagerId },
    targetVersion,
    mechanism,
    ...(temporaryNetwork && { temporaryNetwork }),
  };
}
