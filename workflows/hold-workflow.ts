import { condition, setCurrentDetails } from "@temporalio/workflow";
import { type Hold, heldError } from "../src/domain/hold";
import { toEpochMilliseconds } from "../src/domain/timestamp";
import { currentTime } from "./clock";

/**
 * A hold of a cluster or a host: like a freeze (freeze-workflow.ts) it is in force from the moment in which this runs, and as long
 * as it does. What it says is in its memo. Releasing it terminates it, and at its time it ends by itself.
 */
export async function holdWorkflow(hold: Hold): Promise<void> {
  const { hostId, until } = hold;
  const effect = hostId === undefined ? "nothing of the cluster begins any more" : "upgrades leave the host out";
  setCurrentDetails(`**Held: ${effect}.** ${heldError(hold).message} Terminate this Workflow to release it.`);
  const left = until === undefined ? undefined : toEpochMilliseconds(until) - currentTime();
  if (left === undefined) await condition(() => false);
  else if (left > 0) await condition(() => false, left, { summary: `held until ${until}` });
}
