import { condition, isCancellation, log, type ChildWorkflowHandle, type SignalDefinition } from "@temporalio/workflow";
import { pausedSignal, switchoverSignal, type ResourceWorkflow } from "./messages";

type Child = ChildWorkflowHandle<ResourceWorkflow>;

/** Tells a resource's Workflow of every pause and resumption of its upgrade, until it has ended. */
export function relayPauses(
  child: Child,
  upgrade: { readonly paused: boolean },
  ended: Promise<unknown>,
): Promise<void> {
  return relay(child, { signal: pausedSignal, current: () => upgrade.paused, known: false }, ended);
}

/** Tells the Workflow of a management server of every new time of its switchover, until it has ended. */
export function relaySwitchovers(
  child: Child,
  { known, current }: { readonly known: string | undefined; readonly current: () => string | undefined },
  ended: Promise<unknown>,
): Promise<void> {
  return relay(child, { signal: switchoverSignal, current, known }, ended);
}

interface Relayed<T> {
  readonly signal: SignalDefinition<[value: unknown]>;
  /** How things stand now. */
  readonly current: () => T;
  /** How the resource's Workflow takes things to be when it begins. */
  readonly known: T;
}

/** One Signal after the other, each with how things stand then: whatever order requests come in, the last word is right. */
async function relay<T>(child: Child, { signal, current, known }: Relayed<T>, ended: Promise<unknown>): Promise<void> {
  let told = known;
  const end = { come: false };
  const noteEnd = () => {
    end.come = true;
  };
  ended.then(noteEnd, noteEnd);
  try {
    for (;;) {
      await condition(() => end.come || current() !== told);
      if (end.come) return;
      told = current();
      await child.signal(signal, told);
    }
  } catch (failure) {
    if (isCancellation(failure)) return;
    const { workflowId } = child;
    log.warn("The Workflow of a resource could not be told of a change", { workflowId, signal: signal.name, failure });
  }
}
