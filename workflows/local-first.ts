import { isCancellation } from "@temporalio/workflow";

/**
 * Does a short step inside of the Workflow task first, which costs a marker in the history instead of the six events and
 * two round trips of an Activity. What the component manager does not answer at once, or answers with an error, is left
 * to `patiently`: an Activity that waits, is tried again, and is seen in the Web UI meanwhile. The step may be done twice.
 */
export async function localFirst<A>(isOn: boolean, atOnce: () => Promise<A>, patiently: () => Promise<A>): Promise<A> {
  if (isOn) {
    try {
      return await atOnce();
    } catch (failure) {
      if (isCancellation(failure)) throw failure;
    }
  }
  return patiently();
}
