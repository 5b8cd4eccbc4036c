import { getExternalWorkflowHandle, log, type SignalDefinition, workflowInfo } from "@temporalio/workflow";

/** Sends a Signal to the upgrade of a resource, if there is one. Throws where that cannot be done. */
export async function signalUpgrade(signal: SignalDefinition<[unknown]>, payload: unknown): Promise<void> {
  const { parent } = workflowInfo();
  if (parent) await getExternalWorkflowHandle(parent.workflowId, parent.runId).signal(signal, payload);
}

/** The same for what the upgrade need not know. */
export async function tellUpgrade(signal: SignalDefinition<[unknown]>, payload: unknown): Promise<void> {
  try {
    await signalUpgrade(signal, payload);
  } catch (error) {
    log.warn("Could not signal the upgrade", { signal: signal.name, error });
  }
}
