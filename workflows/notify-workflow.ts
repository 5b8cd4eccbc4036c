import {
  CancellationScope,
  condition,
  continueAsNew,
  log,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { isLeft } from "fp-ts/Either";
import { NotificationDeliveries } from "./notification-deliveries";
import { Notices, noticesSignal, type NotifyInput, type NotifyResult } from "./messages";

/**
 * Tells the receivers of one upgrade what happens to it; its Workflow ID is `notify/<upgrade id>`. The upgrade never
 * waits for it. The end of the upgrade reaches it as a cancellation, however the upgrade ends (docs/decisions/0015):
 * it then delivers what is left, or gives it up in time, and completes. A history that grows long is continued as new.
 */
export async function notifyWorkflow(input: NotifyInput): Promise<NotifyResult> {
  const deliveries = new NotificationDeliveries(input);
  let ended = input.upgradeEnded === true;
  setHandler(noticesSignal, (payload) => {
    const notices = Notices.decode(payload);
    if (isLeft(notices)) log.warn("Notifications that nobody can read were dropped");
    else deliveries.add(notices.right);
  });
  setDefaultSignalHandler((name) => log.warn("A Signal that notifications do not know was dropped", { signal: name }));
  CancellationScope.current().cancelRequested.catch(() => (ended = true));
  return CancellationScope.nonCancellable(async () => {
    deliveries.begin();
    await condition(() => ended || workflowInfo().continueAsNewSuggested);
    if (ended) await deliveries.tellLoss();
    await condition(() => (ended && deliveries.idle) || workflowInfo().continueAsNewSuggested);
    if (ended && deliveries.idle) return deliveries.result();
    const rest = await deliveries.handOver();
    return continueAsNew<typeof notifyWorkflow>({ ...rest, upgradeEnded: ended });
  });
}
