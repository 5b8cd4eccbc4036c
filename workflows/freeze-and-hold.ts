import { condition, setCurrentDetails } from "@temporalio/workflow";
import type { Freeze } from "../src/domain/freeze";
import { type Hold, heldError } from "../src/domain/hold";
import { toEpochMilliseconds } from "../src/domain/timestamp";
import { currentTime } from "./clock";

/**
 * A freeze: it holds from the moment in which this runs, before any worker has seen it, and as long as it does. What it says is in
 * its memo. Lifting it terminates it, and at its time it ends by itself; another freeze of the same takes its place.
 */
export function freezeWorkflow({ until }: Freeze): Promise<void> {
  setCurrentDetails("**Frozen: nothing begins any more.** Terminate this Workflow to lift the freeze.");
  return lasting(until, `frozen until ${until}`);
}

/** A hold of a cluster or a host, in force as a freeze is. Releasing it terminates it. */
export function holdWorkflow(hold: Hold): Promise<void> {
  const { hostId, until } = hold;
  const effect = hostId === undefined ? "nothing of the cluster begins any more" : "upgrades leave the host out";
  setCurrentDetails(`**Held: ${effect}.** ${heldError(hold).message} Terminate this Workflow to release it.`);
  return lasting(until, `held until ${until}`);
}

/** Ends at a Timestamp; without one only by termination. */
async function lasting(until: string | undefined, summary: string): Promise<void> {
  const left = until === undefined ? undefined : toEpochMilliseconds(until) - currentTime();
  if (left === undefined) await condition(() => false);
  else if (left > 0) await condition(() => false, left, { summary });
}
