import type { WorkflowHandle } from "@temporalio/client";
import type { notifyWorkflow } from "../../workflows/notify-workflow";
import { eventually } from "./eventually";
import { untilQuiet } from "./quiet";
import type { RunningUpgrade } from "./running-upgrade";
import type { UpgradeBench } from "./upgrade-bench";

/** The Workflow that tells the receivers of an upgrade. */
export function notifierOf(bench: UpgradeBench, upgrade: RunningUpgrade): WorkflowHandle<typeof notifyWorkflow> {
  return bench.env.client.workflow.getHandle<typeof notifyWorkflow>(`notify/${upgrade.id}`);
}

/** Waits until nothing of an upgrade is on its way any more, to its receivers neither. */
export async function untilAllIsTold(bench: UpgradeBench, upgrade: RunningUpgrade): Promise<void> {
  await untilQuiet(upgrade);
  await eventually(
    () => notifierOf(bench, upgrade).describe(),
    ({ raw }) => (raw.pendingActivities ?? []).length === 0 && !raw.pendingWorkflowTask,
  );
}
