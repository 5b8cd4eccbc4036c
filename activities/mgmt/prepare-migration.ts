import type { MgmtTemporaryNetwork } from "../../src/domain/plan/upgrade-plan";
import type { ManagementServerSettings } from "../activity-dependencies";
import { CancelledBeforeStart } from "../activity-run";
import { completeCheck, endedByRestart, reasonsOf } from "../complete-task";
import { DriverError, isBusy } from "../drivers/driver-error";
import { percentOf, textsOf } from "../drivers/vapi/vapi-models";
import type { VcsaClient } from "../drivers/vcsa/vcsa-client";
import { type MigrationSpec, type MigrationStatus, ValidationResult } from "../drivers/vcsa/vcsa-models";
import type { MgmtMigrationInput } from "../mgmt-contract";
import type { Finding } from "../prechecks/run-checks";
import type { RetryPolicy } from "../retry-policy";
import { StallTimer } from "../stall-timer";
import { ChangeRequest } from "./change-request";
import { mgmtFailure } from "./mgmt-failure";
import type { MgmtStepContext } from "./mgmt-step";
import {
  isForeign,
  isSameVersion,
  movingParts,
  offeredVersion,
  readMigrationView,
  reasonsOfMigration,
} from "./mgmt-view";
import { cancelMigration } from "./switch-over";
import { errorOfFinding, otherUpdate } from "./update";

const over: ReadonlySet<string> = new Set(["CANCELED", "UPGRADED"]);
const working: ReadonlySet<string> = new Set(["RUNNING", "BLOCKED"]);

/**
 * Until a migration to the target waits for its switchover. Goes on with one that is there already, begins anew with
 * one that failed earlier. A cancellation ends this at once; what was begun is then left to `cancelMgmtMigration`.
 */
export async function prepareMigration(context: MgmtStepContext<MgmtMigrationInput>): Promise<void> {
  const { client, input, limits, progress, retryPolicy, stopping, settings } = context;
  const { targetVersion: target, server } = input;
  if (stopping) throw new CancelledBeforeStart();
  const [missing] = missingSettings(input, settings);
  if (missing) throw errorOfFinding(missing);
  const offered = await offeredVersion(client, retryPolicy, target);
  const spec = migrationSpec({ ...input, targetVersion: offered }, settings);
  const request = new ChangeRequest(context);
  const stallTimer = new StallTimer(retryPolicy.clock);
  /** Whether the specification that the server has is known to be ours, and whether it was checked. */
  const known = { specified: false, checked: false };

  async function specify(): Promise<void> {
    progress.note(`Setting up the migration to ${target}.`);
    await request.send(() => client.initMigration(spec));
    known.specified = progress.current.accepted === true;
  }

  async function goOn(): Promise<void> {
    if (!known.checked) {
      progress.note("Checking whether the migration is possible.");
      const { errors: causes } = await checkMigration(client, retryPolicy, spec);
      const what = `Management server ${server.name} cannot be migrated to ${target}`;
      if (causes.length > 0) throw mgmtFailure("MGMT_CHECK_FAILED", what, { causes });
      known.checked = true;
    }
    progress.note("Requesting the preparation of a new appliance.");
    await applyUntilSwitchover(context, request);
  }

  for (let round = 0; ; round++) {
    const { version, migration } = await retryPolicy.retry(() => readMigrationView(client));
    if (isSameVersion(version, target)) return;
    const { current_state: state, status } = migration;
    if (isForeign(migration, target)) {
      progress.note(`Waiting for another migration of ${server.name} to end (${state}).`);
      request.waitAtMost("busy", limits.operationBusy, () => otherUpdate(server.name, state ?? ""));
    } else if (status === "FAILED") {
      const isOver = progress.current.accepted === true && !isEndedByRestart(migration);
      if (state === "SWITCHOVER" || isOver) throw failed(server.name, migration);
      await specify();
      known.checked = false;
    } else if (state === undefined || over.has(state)) {
      if (known.specified) throw lost(server.name, state);
      await specify();
    } else if (state === "SWITCHOVER" || (state === "PREPARED" && !working.has(status))) {
      return;
    } else if (["INITIALIZED", "STAGED"].includes(state) && !working.has(status)) {
      if (state === "INITIALIZED" && !known.specified) await specify();
      else await goOn();
    } else {
      stallTimer.look(movingParts(state, migration));
      if (stallTimer.stalledFor >= limits.mgmtStall) {
        await cancelMigration({ client, retryPolicy, target, name: server.name, limits, note: () => undefined });
        throw stalled(server.name, migration);
      }
      const blocked =
        status === "BLOCKED" ? ` The server waits for an operator: ${reasonsOfMigration(migration)[0] ?? ""}` : "";
      progress.note(`The migration to ${target} is ${state}.${blocked}`, percentOf(migration.progress));
    }
    await retryPolicy.pause(round);
  }
}

/** Whether the migration ended because a service of the server restarted. That is no failure: it begins anew. */
function isEndedByRestart({ status, error, notifications }: MigrationStatus): boolean {
  return endedByRestart({ status, error, result: { notifications } });
}

/** Repeatable, as the product says, so that a lost answer needs no looking. */
async function applyUntilSwitchover(context: MgmtStepContext, request: ChangeRequest): Promise<void> {
  const { client, progress, limits, input, retryPolicy, begin } = context;
  try {
    await begin(() => retryPolicy.once(() => client.applyMigration({ pause: true })));
    const what = `Management server ${input.server.name} does not start to prepare its migration`;
    request.waitAtMost("applied", limits.operationBusy, () => mgmtFailure("MGMT_NOT_STARTED", what));
  } catch (error) {
    if (!(error instanceof DriverError) || error.kind === "permanent") throw error;
    progress.note(error.message);
    const bound = isBusy(error) ? limits.operationBusy : limits.outage;
    request.waitAtMost("applying", bound, () => error);
  }
}

function failed(server: string, migration: MigrationStatus) {
  const causes = reasonsOfMigration(migration);
  if (migration.current_state === "SWITCHOVER")
    return mgmtFailure("MGMT_SWITCHOVER_FAILED", `The switchover of management server ${server} has failed`, {
      causes,
    });
  const what = `The migration of management server ${server} failed in the state ${migration.current_state}`;
  return mgmtFailure("MGMT_MIGRATION_FAILED", what, { causes });
}

function stalled(server: string, migration: MigrationStatus) {
  const { current_state: state, status } = migration;
  const causes = reasonsOfMigration(migration);
  const what = `The migration of management server ${server} is ${state} (${status}) and makes no progress; it was cancelled`;
  return mgmtFailure("MGMT_MIGRATION_STALLED", what, { causes });
}

function lost(server: string, state: string | undefined) {
  const now = state === undefined ? "gone" : state;
  return mgmtFailure(
    "MGMT_CHANGE_LOST",
    `The migration of management server ${server} is ${now}, but not because of this upgrade`,
  );
}

/** Has the management server check a migration; gives what stands in its way, in the product's words. */
export async function checkMigration(
  client: VcsaClient,
  retryPolicy: RetryPolicy,
  spec: MigrationSpec,
): Promise<MigrationIssues> {
  const task = await completeCheck(client, retryPolicy, () => client.checkMigration(spec));
  if (!task) return { errors: ["The check gave no result: the management server no longer has it."], warnings: [] };
  const result = ValidationResult.is(task.result) ? task.result : {};
  const details = (result.details ?? []).flatMap(({ notifications, error }) => [
    ...textsOf(notifications?.errors),
    ...reasonsOf({ error }),
  ]);
  const all = [result.notifications, ...(result.details ?? []).map(({ notifications }) => notifications)];
  const warnings = [...new Set(all.flatMap((one) => textsOf(one?.warnings)))];
  const errors = [...new Set([...textsOf(result.notifications?.errors), ...details])];
  if (errors.length > 0 || task.status === "SUCCEEDED") return { errors, warnings };
  const [reason] = reasonsOf(task);
  return { errors: [reason ?? "The check failed and does not say why."], warnings };
}

/** What the check of a migration reports. */
interface MigrationIssues {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

interface Wanted {
  readonly server: { readonly name: string; readonly resourceId: string };
  readonly targetVersion: string;
  readonly temporaryNetwork?: MgmtTemporaryNetwork;
}

/** What the inventory has to say for a migration and does not. */
export function missingSettings({ server, temporaryNetwork }: Wanted, settings: ManagementServerSettings): Finding[] {
  const remedy = (what: string) =>
    `Set ${what} of management server ${server.name} (${server.resourceId}) in the inventory, restart the workers, then try again.`;
  return [
    ...(temporaryNetwork?.mode === "STATIC" && settings.dnsServers.length === 0
      ? [
          {
            code: "MGMT_SETTINGS_MISSING",
            message: `A STATIC temporary network needs DNS servers, and the inventory has none for ${server.name}.`,
            remediation: remedy("the DNS servers"),
            context: { setting: "dnsServers" },
          },
        ]
      : []),
    ...(settings.temporaryRootPassword
      ? []
      : [
          {
            code: "MGMT_SETTINGS_MISSING",
            message: `A migration needs a temporary root password, and the inventory has none for ${server.name}.`,
            remediation: remedy("the temporary root password"),
            context: { setting: "temporaryRootPassword" },
          },
        ]),
  ];
}

/** What the product is asked for. AUTOMATIC leaves the network out: it takes a link-local address then. */
export function migrationSpec(
  { targetVersion, temporaryNetwork }: Wanted,
  settings: ManagementServerSettings,
): MigrationSpec {
  return {
    version: targetVersion,
    deployment: {
      appliance: {
        root_password: settings.temporaryRootPassword ?? "",
        ...(temporaryNetwork?.mode === "STATIC" && {
          network_settings: {
            mode: "STATIC" as const,
            ip_family: "IPV4" as const,
            ip: temporaryNetwork.ipAddress,
            prefix: temporaryNetwork.prefix,
            gateway: temporaryNetwork.gateway,
            dns_servers: settings.dnsServers,
          },
        }),
      },
    },
  };
}
