import { type ChildWorkflowHandle, condition, isCancellation, log, type SignalDefinition } from "@temporalio/workflow";
import { currentTime } from "../clock";
import {
  pausedSignal,
  rescheduledSignal,
  type ResourceWorkflow,
  switchoverSignal,
  windowsIgnoredSignal,
} from "../messages";

/** The Workflow of a resource, as its upgrade knows it. */
export type Child = ChildWorkflowHandle<ResourceWorkflow>;

/** How many resumes are told at once, and by how much longer after its pause each further one is told (milliseconds). */
const resumes = { atOnce: 20, laterEach: 30_000 };

/**
 * Tells a resource's Workflow of every pause and resumption of its upgrade, until it has ended. Each change puts all that is
 * known of its hosts into its history, 120 KB for 128 hosts, and a script that pauses and resumes would fill that. So after
 * many changes a resumption soon after its pause is told later, or not at all where the upgrade is paused again by then. A
 * pause is told at once.
 */
export function relayPauses(
  child: Child,
  upgrade: { readonly paused: boolean },
  ended: Promise<unknown>,
): Promise<void> {
  const spacing = (paused: boolean, told: number) =>
    paused ? 0 : Math.max(0, Math.ceil(told / 2) - resumes.atOnce) * resumes.laterEach;
  return relay(child, { signal: pausedSignal, current: () => upgrade.paused, known: false, spacing }, ended);
}

/** Tells a resource's Workflow of every other time at which it begins, until it has ended. One that has begun keeps its time. */
export function relayStarts(
  child: Child,
  { known, current }: { readonly known: string | null; readonly current: () => string | null },
  ended: Promise<unknown>,
): Promise<void> {
  return relay(child, { signal: rescheduledSignal, current, known }, ended);
}

/** Tells a resource's Workflow that its upgrade ignores maintenance windows now, if it does so before the resource has ended. */
export function relayOverride(
  child: Child,
  { known, current }: { readonly known: boolean; readonly current: () => boolean },
  ended: Promise<unknown>,
): Promise<void> {
  return relay(child, { signal: windowsIgnoredSignal, current, known }, ended);
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
  /** How long after the one before a change is told at the earliest, when so many were told (milliseconds). */
  readonly spacing?: (value: T, told: number) => number;
}

/** One Signal after the other, each with how things stand then: whatever order requests come in, the last word is right. */
async function relay<T>(
  child: Child,
  { signal, current, known, spacing = () => 0 }: Relayed<T>,
  ended: Promise<unknown>,
): Promise<void> {
  let last = { value: known, at: currentTime(), count: 0 };
  const end = { come: false };
  const noteEnd = () => {
    end.come = true;
  };
  ended.then(noteEnd, noteEnd);
  try {
    for (;;) {
      await condition(() => end.come || current() !== last.value);
      const wait = last.at + spacing(current(), last.count) - currentTime();
      const summary = "before a resource is told of one more change";
      if (wait > 0) await condition(() => end.come, wait, { summary });
      if (end.come) return;
      if (current() === last.value) continue;
      last = { value: current(), at: currentTime(), count: last.count + 1 };
      await child.signal(signal, last.value);
    }
  } catch (failure) {
    if (isCancellation(failure)) return;
    const { workflowId } = child;
    log.warn("Could not signal a change to the Workflow of a resource", { workflowId, signal: signal.name, failure });
  }
}
