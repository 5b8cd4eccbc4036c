import type { ActivityLimits } from "../activity-limits";
import { CancelledBeforeStart } from "../activity-run";
import { DriverError, isBusy } from "../drivers/driver-error";
import { percentOf } from "../drivers/vapi/vapi-models";
import type { VcsaClient } from "../drivers/vcsa/vcsa-client";
import { GiveUpError, type RetryPolicy } from "../retry-policy";
import { StallTimer } from "../stall-timer";
import { mgmtFailure } from "./mgmt-failure";
import type { MgmtStepContext } from "./mgmt-step";
import {
  isForeign,
  isSameVersion,
  type MigrationView,
  movingParts,
  readMigrationView,
  reasonsOfMigration,
} from "./mgmt-view";
import { UnstoppableChange } from "./unstoppable-change";

/**
 * Until the new appliance answers in the old one's place with the target version. A switchover that has begun cannot be
 * stopped: it is brought to its end also where the upgrade is cancelled.
 */
export async function switchOver(context: MgmtStepContext): Promise<{ version: string }> {
  const { client, input, progress, retryPolicy, stopping } = context;
  const { targetVersion: target, server } = input;
  const change = new UnstoppableChange(context, "a switchover");
  const { request } = change;

  for (let round = 0; ; round++) {
    const view = await change.read(
      () => readSwitchedOver(client, target),
      () => readMigrationView(client),
    );
    if (!view) {
      await retryPolicy.pause(round);
      continue;
    }
    const { version, migration } = view;
    const { current_state: state = "gone", status } = migration;
    const causes = reasonsOfMigration(migration);

    if (status === "FAILED") {
      const what = `The switchover of management server ${server.name} to ${target} has failed`;
      if (state === "SWITCHOVER" || change.wasSeen) throw mgmtFailure("MGMT_SWITCHOVER_FAILED", what, { causes });
      if (stopping) throw new CancelledBeforeStart();
      const before = `The migration of management server ${server.name} failed in the state ${state}`;
      throw mgmtFailure("MGMT_MIGRATION_FAILED", before, { causes, final: true });
    }
    if (state === "SWITCHOVER") {
      if (change.hasStalled(state, migration)) throw stalled(server.name, causes);
      change.note(`Switching over to the new appliance (${status}).`, percentOf(migration.progress));
    } else if (isSameVersion(version, target)) {
      return { version };
    } else if (state === "PREPARED" && !isForeign(migration, target)) {
      if (request.hasLeftNoTrace()) {
        if (stopping) throw new CancelledBeforeStart();
        progress.note("Requesting the switchover.");
        await request.send(() => client.applyMigration({ pause: false }));
        if (progress.current.accepted) round = 0;
      }
    } else if (state === "UPGRADED" && (change.wasSeen || request.known)) {
      const what = `Management server ${server.name} has switched over and runs ${version} instead of ${target}`;
      throw mgmtFailure("MGMT_NOT_AT_TARGET", what, { causes });
    } else {
      if (stopping) throw new CancelledBeforeStart();
      const what = `The migration of management server ${server.name} to ${target} is ${state} instead of PREPARED`;
      throw mgmtFailure("MGMT_CHANGE_LOST", what, { causes });
    }
    await retryPolicy.pause(round);
  }
}

/** A new appliance may not know of the migration that it came from. */
async function readSwitchedOver(client: VcsaClient, target: string): Promise<MigrationView> {
  try {
    return await readMigrationView(client);
  } catch (error) {
    // By whatever words: the version decides.
    if (!(error instanceof DriverError) || error.code !== "RESOURCE_NOT_FOUND") throw error;
    const version = await client.readVersion();
    if (!isSameVersion(version, target)) throw error;
    return { version, migration: { status: "SUCCEEDED", upgrade_info: {} } };
  }
}

function stalled(server: string, causes: readonly string[]) {
  const what = `The switchover of management server ${server} makes no progress; it cannot be cancelled and may still continue`;
  return mgmtFailure("MGMT_MIGRATION_STALLED", what, { causes, final: true });
}

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
  const stallTimer = new StallTimer(retryPolicy.clock);
  const began = retryPolicy.clock.now();
  for (let round = 0; ; round++) {
    const { migration } = await retryPolicy.retry(() => readMigrationView(client));
    const { current_state: state } = migration;
    const nothing = state === undefined || ["CANCELED", "UPGRADED", "SWITCHOVER"].includes(state);
    if (nothing || isForeign(migration, target)) return;
    if (state === "CANCELING") {
      note("The migration is being cancelled.");
      stallTimer.look(movingParts(state, migration));
      if (stallTimer.stalledFor >= limits.mgmtStall) throw notCancelled(name, state);
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
    message: `The migration of management server ${server} does not end: it is ${state}.`,
    remediation: "Cancel the migration in the management server, and remove the new appliance if it is left.",
  });
}
