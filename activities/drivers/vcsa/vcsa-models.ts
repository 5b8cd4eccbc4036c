import * as t from "io-ts";
import { LocalizableMessage, Notifications, Progress } from "../vapi/vapi-models";

// The same rules as for the models of the lifecycle manager: only used fields, and states stay strings.

export const ApplianceVersion = t.type({ version: t.string });

const UpdateTask = t.intersection([
  t.type({ status: t.string, operation: t.string }),
  t.partial({
    progress: Progress,
    error: t.unknown,
    start_time: t.string,
    subtasks: t.record(t.string, t.partial({ result: Notifications, error: t.unknown })),
  }),
]);

/**
 * How far the appliance is with its update: UP_TO_DATE, UPDATES_PENDING, STAGE_IN_PROGRESS, INSTALL_IN_PROGRESS,
 * INSTALL_FAILED or ROLLBACK_IN_PROGRESS. `task` is the staging or installation that runs, or the last one.
 */
export const UpdateInfo = t.intersection([
  t.type({ state: t.string, version: t.string }),
  t.partial({ task: UpdateTask }),
]);
export type UpdateInfo = t.TypeOf<typeof UpdateInfo>;

/** Its own time. */
export const ApplianceTime = t.type({ seconds_since_epoch: t.number });

/** The backups that the appliance remembers, by their ids. `status` SUCCEEDED where one can be restored. */
export const BackupJobs = t.record(
  t.string,
  t.intersection([t.type({ status: t.string }), t.partial({ end_time: t.string })]),
);

/** Its certificate, as far as it is used; a timestamp. */
export const ApplianceCertificate = t.type({ valid_to: t.string });

export const PendingUpdates = t.array(t.type({ version: t.string }));

const Question = t.intersection([
  t.type({ data_item: t.string, text: LocalizableMessage }),
  t.partial({ default_answer: t.string }),
]);

/** What the appliance finds before an installation, and what it must be told for one. */
export const UpdatePrecheck = t.intersection([
  t.type({ questions: t.array(Question) }),
  t.partial({ issues: Notifications }),
]);
export type UpdatePrecheck = t.TypeOf<typeof UpdatePrecheck>;

export const StagedUpdate = t.type({ staging_complete: t.boolean, version: t.string });
export type StagedUpdate = t.TypeOf<typeof StagedUpdate>;

const UpgradeInfo = t.partial({ upgrade_to: t.string });

/**
 * How far a migration is. `current_state`: INITIALIZING, INITIALIZED, STAGING, STAGED, PREPARING, PREPARED, SWITCHOVER,
 * UPGRADED, CANCELING or CANCELED, absent where there is none. `status`: PENDING, RUNNING, BLOCKED, SUCCEEDED, FAILED
 * or CANCELED.
 */
export const MigrationStatus = t.intersection([
  t.type({ status: t.string, upgrade_info: UpgradeInfo }),
  t.partial({
    current_state: t.string,
    desired_state: t.string,
    progress: Progress,
    notifications: Notifications,
    error: t.unknown,
  }),
]);
export type MigrationStatus = t.TypeOf<typeof MigrationStatus>;

const PrecheckDetail = t.intersection([
  t.type({ id: t.string, state: t.string }),
  t.partial({ notifications: Notifications, error: t.unknown }),
]);

/** What the check of a migration found, in all and by check. */
export const ValidationResult = t.partial({ notifications: Notifications, details: t.array(PrecheckDetail) });
export type ValidationResult = t.TypeOf<typeof ValidationResult>;

/** The network of a new appliance until the switchover; absent: a link-local address. */
export interface StaticNetwork {
  readonly mode: "STATIC";
  readonly ip_family: "IPV4";
  readonly ip: string;
  readonly prefix: number;
  readonly gateway: string;
  readonly dns_servers: readonly string[];
}

/** What a migration is to do. Holds the temporary root password, so it is never kept or logged. */
export interface MigrationSpec {
  readonly version: string;
  readonly deployment: {
    readonly appliance: { readonly root_password: string; readonly network_settings?: StaticNetwork };
  };
}
