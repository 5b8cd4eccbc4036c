import { CancellationScope } from "@temporalio/workflow";
import type { ActivityWaits } from "../src/domain/activity-waits";
import { isLost } from "./activity-failure";
import { waitForLeaseEnd } from "./lost-lease";

/**
 * Runs an idempotent Activity again where it was lost with its worker: that is no attempt of the operator's. What may
 * still act on its behalf is waited out before, also where it is not run again. Throws its failure where it is lost too often.
 */
export async function untilAnswered<T>(waits: ActivityWaits, run: () => Promise<T>): Promise<T> {
  const { lostRuns } = waits;
  for (let losses = 0; ; losses++) {
    try {
      return await run();
    } catch (failure) {
      await waitForLeaseEnd(failure, waits);
      const { consideredCancelled } = CancellationScope.current();
      if (!isLost(failure) || consideredCancelled || losses >= lostRuns) throw failure;
    }
  }
}
