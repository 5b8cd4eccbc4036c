import { CancellationScope, getExternalWorkflowHandle, log } from "@temporalio/workflow";
import { notifyWorkflowId } from "../../src/domain/notifications/upgrade-notification";
import { lookSignal } from "../messages";

/** The run of an upgrade that is watched. */
export interface WatchInput {
  readonly upgradeId: string;
}

/**
 * Child of a later run of an upgrade, because the Workflow of its notifications is a child of the first: Temporal tells only
 * children of the end of a run, as a cancellation, and this passes it on.
 */
export async function watchUpgradeWorkflow({ upgradeId }: WatchInput): Promise<void> {
  await CancellationScope.current().cancelRequested.catch(() => undefined);
  await CancellationScope.nonCancellable(async () => {
    try {
      await getExternalWorkflowHandle(notifyWorkflowId(upgradeId)).signal(lookSignal);
    } catch (failure) {
      log.info("The notification Workflow had ended before the upgrade", { failure });
    }
  });
}
