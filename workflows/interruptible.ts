import { CancellationScope, condition, isCancellation } from "@temporalio/workflow";

/** What it gives; undefined where something else happens first, which ends it. Throws where the Workflow is cancelled. */
export async function interruptible<A>(body: () => Promise<A>, isOver: () => boolean): Promise<A | undefined> {
  const scope = new CancellationScope();
  const work = scope.run(body);
  const over = scope.run(() => condition(isOver));
  await Promise.allSettled([Promise.race([work, over])]);
  // Ends the one that has not ended.
  scope.cancel();
  over.catch(() => undefined);
  try {
    return await work;
  } catch (failure) {
    if (!isCancellation(failure) || CancellationScope.current().consideredCancelled) throw failure;
    return undefined;
  }
}
