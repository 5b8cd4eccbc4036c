import type { ActivityLimits } from "../activity-dependencies";
import { DriverError, isBusy } from "../drivers/driver-error";
import type { VcsaClient } from "../drivers/vcsa/vcsa-client";
import { type RetryPolicy, GiveUpError } from "../retry-policy";
import { isForeign, readMigrationView } from "./mgmt-view";
import { Standstill } from "./standstill";

interface Cancellation {
  readonly client: VcsaClient;
  readonly retryPolicy: RetryPolicy;
  readonly target: string;
  readonly name: string;
  readonly limits: ActivityLimits;
  note(activity: string): void;
}

/** Until no migration to the target is left that has not begun its switchover. Others are not touched. */
export async function cancelMigration({
  client,
  retryPolicy,
  target,
  name,
  limits,
  note,
}: Cancellation): Promise<void> {
  const standstill = new Standstill(retryPolicy.clock);
  const began = retryPolicy.clock.now();
  for (let round = 0; ; round++) {
    const { migration } = await retryPolicy.retry(() => readMigrationView(client));
    const { current_state: state } = migration;
    const nothing = state === undefined || ["CANCELED", "UPGRADED", "SWITCHOVER"].includes(state);
    if (nothing || isForeign(migration, target)) return;
    if (state === "CANCELING") {
      note("The migration is being cancelled.");
      if (standstill.look(state, migration) >= limits.mgmtStall) throw notCancelled(name, state);
    } else {
      note("Cancelling the migration.");
      try {
        await retryPolicy.once(() => client.cancelMigration());
      } catch (error) {
        if (!(error instanceof DriverError)) throw error;
        // Whether it can be cancelled now, or has ended, is seen at the next look.
        note(error.message);
        const bound = error.kind === "transient" && !isBusy(error) ? limits.outage : limits.operationBusy;
        if (retryPolicy.clock.now() - began >= bound) throw new GiveUpError(error, bound);
      }
    }
    await retryPolicy.pause(round);
  }
}

function notCancelled(server: string, state: string): DriverError {
  return new DriverError({
    kind: "transient",
    code: "MGMT_MIGRATION_NOT_CANCELLED",
    message: `The migration of management server ${server} does not come to its end: it is ${state}.`,
    remediation: "Cancel the migration in the management server, and remove the new appliance where it is left.",
  });
}
