import { CancellationScope } from "@temporalio/workflow";

/** What was in work may have come to a good end in spite of a cancellation; what follows is then not begun. */
export async function endHereIfCancelled(): Promise<void> {
  const { consideredCancelled, cancelRequested } = CancellationScope.current();
  if (consideredCancelled) await cancelRequested;
}
