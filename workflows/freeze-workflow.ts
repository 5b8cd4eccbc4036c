import { condition, setCurrentDetails } from "@temporalio/workflow";
import type { Freeze } from "../src/domain/freeze";
import { toEpochMilliseconds } from "../src/domain/timestamp";
import { currentTime } from "./clock";

/**
 * A freeze: it holds from the moment in which this runs, before any worker has seen it, and as long as it does. What it says is in
 * its memo. Lifting it terminates it, and at its time it ends by itself; another freeze of the same takes its place.
 */
export async function freezeWorkflow({ until }: Freeze): Promise<void> {
  setCurrentDetails("**Frozen: nothing begins any more.** Terminate this Workflow to lift the freeze.");
  const left = until === undefined ? undefined : toEpochMilliseconds(until) - currentTime();
  if (left === undefined) await condition(() => false);
  else if (left > 0) await condition(() => false, left, { summary: `frozen until ${until}` });
}
