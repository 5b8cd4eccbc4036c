import { isSameVersion, parseVersion } from "../../src/domain/version";
import { reasonsOf } from "../complete-task";
import { type Progress, textsOf } from "../drivers/vapi/vapi-models";
import type { VcsaClient } from "../drivers/vcsa/vcsa-client";
import type { MigrationStatus, StagedUpdate, UpdateInfo } from "../drivers/vcsa/vcsa-models";
import type { RetryPolicy } from "../retry-policy";
import { type MgmtFailure, mgmtFailure } from "./mgmt-failure";

/** How a management server stands with its update in place. */
export interface UpdateView {
  readonly version: string;
  readonly update: UpdateInfo;
  readonly staged: StagedUpdate | undefined;
}

/** The version last: an old version beside an installation that has ended in between would look like a failure. */
export async function readUpdateView(client: VcsaClient): Promise<UpdateView> {
  const update = await client.readUpdate();
  const staged = await client.readStagedUpdate();
  return { version: await client.readVersion(), update, staged };
}

/** How a management server stands with its migration. `version` is empty while it switches over. */
export interface MigrationView {
  readonly version: string;
  readonly migration: MigrationStatus;
}

/** The version last, for the same reason; the API that tells it does not answer during the switchover. */
export async function readMigrationView(client: VcsaClient): Promise<MigrationView> {
  const migration = await client.readMigration();
  const version = migration.current_state === "SWITCHOVER" ? "" : await client.readVersion();
  return { version, migration };
}

/** What is looked at to tell whether something moves. */
export interface Moving {
  readonly status?: string | undefined;
  readonly progress?: Progress | undefined;
}

/** What changes while an update or a migration in this state gets on. */
export function movingParts(state: string, { status, progress }: Moving): unknown {
  return [state, status, progress?.completed, progress?.message.default_message];
}

export { isSameVersion };

/** The target as the appliance writes it, which names its updates without a build; as it is where it offers no such one. */
export async function offeredVersion(
  client: Pick<VcsaClient, "listPendingUpdates">,
  retryPolicy: RetryPolicy,
  target: string,
): Promise<string> {
  if (parseVersion(target).build === undefined) return target;
  const offered = await retryPolicy.retry(() => client.listPendingUpdates());
  return offered.find((version) => isSameVersion(version, target)) ?? target;
}

/** Whether a migration, if there is one that has not come to its end, goes to another version than the target. */
export function isForeign({ current_state: state, upgrade_info: { upgrade_to: to } }: MigrationStatus, target: string) {
  const isOver = state === undefined || state === "CANCELED" || state === "UPGRADED";
  return !isOver && to !== undefined && !isSameVersion(to, target);
}

/** The product's words for why a staging or installation failed. */
export function reasonsOfUpdate({ task }: UpdateInfo): string[] {
  if (!task) return [];
  const told = reasonsOf(task);
  if (told.length > 0) return told;
  return Object.values(task.subtasks ?? {}).flatMap((part) => [
    ...reasonsOf({ error: part.error }),
    ...textsOf(part.result?.errors),
  ]);
}

/** The product's words for why a migration failed, or what it waits for. */
export function reasonsOfMigration({ error, notifications }: MigrationStatus): string[] {
  const told = reasonsOf({ error });
  if (told.length > 0) return told;
  const errors = textsOf(notifications?.errors);
  return errors.length > 0 ? errors : textsOf(notifications?.warnings);
}

/** The failure of an appliance that is broken or goes back; undefined where it is neither. */
export function brokenUpdate(server: string, { version, update }: UpdateView): MgmtFailure | undefined {
  const causes = reasonsOfUpdate(update);
  if (update.state === "INSTALL_FAILED")
    return mgmtFailure("MGMT_INSTALL_FAILED", `The installation on management server ${server} has failed`, { causes });
  if (update.state === "ROLLBACK_IN_PROGRESS")
    return mgmtFailure(
      "MGMT_INSTALL_ROLLED_BACK",
      `The installation on management server ${server} has failed and is rolled back to ${version}`,
      { causes },
    );
  return undefined;
}
