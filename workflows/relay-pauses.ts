import { condition, isCancellation, log, type ChildWorkflowHandle } from "@temporalio/workflow";
import { pausedSignal, type ResourceWorkflow } from "./messages";

/**
 * Tells a resource's Workflow of every pause and resumption of its upgrade, until it has ended. One Signal after the
 * other, each with how things stand then: whatever order operators' Signals come in, the last word is right.
 */
export async function relayPauses(
  child: ChildWorkflowHandle<ResourceWorkflow>,
  upgrade: { readonly paused: boolean },
  ended: Promise<unknown>,
): Promise<void> {
  let told = false;
  const end = { come: false };
  const noteEnd = () => {
    end.come = true;
  };
  ended.then(noteEnd, noteEnd);
  try {
    for (;;) {
      await condition(() => end.come || upgrade.paused !== told);
      if (end.come) return;
      told = upgrade.paused;
      await child.signal(pausedSignal, told);
    }
  } catch (failure) {
    if (isCancellation(failure)) return;
    log.warn("The Workflow of a resource could not be told of a pause", { workflowId: child.workflowId, failure });
  }
}
