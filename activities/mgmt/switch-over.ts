import { DriverError } from "../drivers/driver-error";
import type { VcsaClient } from "../drivers/vcsa/vcsa-client";
import { Absence } from "./absence";
import { ChangeRequest } from "./change-request";
import { mgmtFailure, NothingRuns } from "./mgmt-failure";
import type { MgmtStepContext } from "./mgmt-step";
import { isForeign, isSameVersion, type MigrationView, readMigrationView, reasonsOfMigration } from "./mgmt-view";
import { percentOf, Standstill } from "./standstill";

/**
 * Until the new appliance answers in the old one's place with the target version. A switchover that has begun cannot be
 * stopped: it is brought to its end also where the upgrade is cancelled.
 */
export async function switchOver(context: MgmtStepContext): Promise<{ version: string }> {
  const { client, input, limits, progress, retryPolicy, stopping } = context;
  const { targetVersion: target, server } = input;
  const request = new ChangeRequest(context);
  const standstill = new Standstill(context.retryPolicy.clock);
  const absence = new Absence(context);
  let running = false;
  const note = (what: string, percent?: number) =>
    progress.note(stopping ? `Cancelled, but a switchover is brought to its end: ${what}` : what, percent);

  for (let round = 0; ; round++) {
    const view =
      running || request.possible
        ? await absence.read(() => readSwitchedOver(client, target))
        : await retryPolicy.retry(() => readMigrationView(client));
    if (!view) {
      standstill.blind();
      await retryPolicy.pause(round);
      continue;
    }
    const { version, migration } = view;
    const { current_state: state = "gone", status } = migration;
    const causes = reasonsOfMigration(migration);

    if (status === "FAILED") {
      const what = `The switchover of management server ${server.name} to ${target} has failed`;
      if (state === "SWITCHOVER" || running) throw mgmtFailure("MGMT_SWITCHOVER_FAILED", what, { causes });
      if (stopping) throw new NothingRuns();
      const before = `The migration of management server ${server.name} has failed while it was ${state}`;
      throw mgmtFailure("MGMT_MIGRATION_FAILED", before, { causes, final: true });
    }
    if (state === "SWITCHOVER") {
      running = true;
      if (standstill.look(state, migration) >= limits.mgmtStall) throw stalled(server.name, causes);
      note(`Switching over to the new appliance (${status}).`, percentOf(migration.progress));
    } else if (isSameVersion(version, target)) {
      return { version };
    } else if (state === "PREPARED" && !isForeign(migration, target)) {
      if (request.hasLeftNoTrace()) {
        if (stopping) throw new NothingRuns();
        progress.note("Asking for the switchover.");
        await request.send(() => client.applyMigration({ pause: false }));
        if (progress.current.accepted) round = 0;
      }
    } else if (state === "UPGRADED" && (running || request.known)) {
      const what = `Management server ${server.name} has switched over and runs ${version} instead of ${target}`;
      throw mgmtFailure("MGMT_NOT_AT_TARGET", what, { causes });
    } else {
      if (stopping) throw new NothingRuns();
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
  const what = `The switchover of management server ${server} makes no progress; it cannot be cancelled and may still go on`;
  return mgmtFailure("MGMT_MIGRATION_STALLED", what, { causes, final: true });
}
