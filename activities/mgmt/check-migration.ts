import { completeCheck, reasonsOf } from "../complete-task";
import type { VcsaClient } from "../drivers/vcsa/vcsa-client";
import { type MigrationSpec, ValidationResult } from "../drivers/vcsa/vcsa-models";
import { textsOf } from "../drivers/vapi/vapi-models";
import type { RetryPolicy } from "../retry-policy";

/** Has the management server check a migration; gives what stands in its way, in the product's words. */
export async function checkMigration(
  client: VcsaClient,
  retryPolicy: RetryPolicy,
  spec: MigrationSpec,
): Promise<string[]> {
  const task = await completeCheck(client, retryPolicy, () => client.checkMigration(spec));
  if (!task) return ["The check gave no result: the management server has forgotten it."];
  const result = ValidationResult.is(task.result) ? task.result : {};
  const details = (result.details ?? []).flatMap(({ notifications, error }) => [
    ...textsOf(notifications?.errors),
    ...reasonsOf({ error }),
  ]);
  const found = [...new Set([...textsOf(result.notifications?.errors), ...details])];
  if (found.length > 0 || task.status === "SUCCEEDED") return found;
  const [reason] = reasonsOf(task);
  return [reason ?? "The check failed and does not say why."];
}
