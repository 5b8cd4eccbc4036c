import { getExternalWorkflowHandle } from "@temporalio/workflow";

/** A Workflow with the mistake that the end guard is for: a Signal that nobody waits for is sent after the end. */
export function asksAfterItsEnd(): Promise<string> {
  void signalLate();
  return Promise.resolve("ended");
}

async function signalLate(): Promise<void> {
  // Enough turns for the end to be on its way, in the same Workflow Task.
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  await getExternalWorkflowHandle("somebody else").signal("news");
}
