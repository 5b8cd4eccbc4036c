import { CancellationScope } from "@temporalio/workflow";
import { isLost } from "./activity-failure";

/** How often an Activity may be lost with its worker before the failure stands. */
const maximumLosses = 200;

/** Runs an idempotent Activity again at once where it was lost with its worker: that is no attempt of the operator's. */
export async function untilAnswered<T>(run: () => Promise<T>): Promise<T> {
  for (let losses = 0; ; losses++) {
    try {
      return await run();
    } catch (failure) {
      const { consideredCancelled } = CancellationScope.current();
      if (!isLost(failure) || consideredCancelled || losses >= maximumLosses) throw failure;
    }
  }
}
