import { getExternalWorkflowHandle, log, type SignalDefinition, workflowInfo } from "@temporalio/workflow";

/** Sends a Signal to the upgrade of a resource, if there is one. */
export async function tellUpgrade(signal: SignalDefinition<[unknown]>, payload: unknown): Promise<void> {
  const { parent } = workflowInfo();
  if (!parent) return;
  try {
    await getExternalWorkflowHandle(parent.workflowId, parent.runId).signal(signal, payload);
  } catch (error) {
    log.warn("Could not signal the upgrade", { signal: signal.name, error });
  }
}
