import * as t from "io-ts";
import { Identifier, ListOf, model, OneOf } from "../../domain/codec";
import { Moment } from "../state/moment";

/** When what runs will end. Without `endsAt` it never does; from `stopsAt` on its progress stands still. */
const timing = { endsAt: Moment, stopsAt: Moment, blocked: t.boolean };

/** When the API is away meanwhile; `restarted` once that has been taken note of. */
const absence = { downFrom: Moment, downUntil: Moment, downAltogether: t.boolean, restarted: t.boolean };

/** How it will end badly, and the fault that is to blame; `id` of the message where the API has one of its own for it. */
const Failure = model(
  { kind: OneOf("FAILS", "ROLLS_BACK", "INTERRUPTED"), message: t.string, fault: t.string },
  { id: t.string },
);
export type ApplianceFailure = t.TypeOf<typeof Failure>;

/** The staging or installation that runs, or the last one. `duration` is in milliseconds. */
export const UpdateRun = model(
  {
    kind: OneOf("stage", "install"),
    version: t.string,
    startedAt: Moment,
    duration: t.number,
    status: OneOf("RUNNING", "ROLLING_BACK", "SUCCEEDED", "FAILED", "ROLLED_BACK", "INTERRUPTED", "CANCELLED"),
  },
  { ...timing, ...absence, failure: Failure, endedAt: Moment },
);
export type UpdateRun = t.TypeOf<typeof UpdateRun>;

export const MigrationState = OneOf(
  "INITIALIZING",
  "INITIALIZED",
  "STAGING",
  "STAGED",
  "PREPARING",
  "PREPARED",
  "SWITCHOVER",
  "UPGRADED",
  "CANCELING",
  "CANCELED",
);
export type MigrationState = t.TypeOf<typeof MigrationState>;

/** A new appliance's network until the switchover, as it was asked for. */
export const NetworkSettings = model(
  { mode: OneOf("DHCP", "STATIC") },
  {
    ip_family: OneOf("IPV4", "IPV6"),
    ip: t.string,
    prefix: t.number,
    gateway: t.string,
    dns_servers: t.array(t.string),
    hostname: t.string,
  },
);
export type NetworkSettings = t.TypeOf<typeof NetworkSettings>;

/** A migration; the state that it is in began at `startedAt`. Its password is not kept. */
export const MigrationRun = model(
  {
    id: t.string,
    version: t.string,
    state: MigrationState,
    desired: MigrationState,
    status: OneOf("RUNNING", "SUCCEEDED", "FAILED", "CANCELED"),
    startedAt: Moment,
    duration: t.number,
    pause: t.boolean,
  },
  {
    ...timing,
    ...absence,
    network: NetworkSettings,
    startSwitchover: Moment,
    failure: Failure,
    /** When its work came to rest or failed; absent while it works. */
    endedAt: Moment,
  },
);
export type MigrationRun = t.TypeOf<typeof MigrationRun>;

/** A check of a migration: its issues are known when it ends. */
export const MigrationCheck = model(
  { id: t.string, user: t.string, startedAt: Moment, endsAt: Moment, issues: t.array(t.string) },
  { warnings: t.array(t.string) },
);
export type MigrationCheck = t.TypeOf<typeof MigrationCheck>;

/** All of the management server itself that outlives a restart of the simulator. */
export const VcsaState = model(
  {
    /** The configuration that it was made from; with another one it begins anew. */
    configuration: t.string,
    version: t.string,
    checks: t.array(MigrationCheck),
  },
  {
    staged: model({ version: t.string, complete: t.boolean }, {}),
    update: UpdateRun,
    migration: MigrationRun,
    /** After a restart: when the lifecycle service is not there yet although the rest answers, and by which fault. */
    lifecycleAway: model({ from: Moment, until: Moment, status: t.number, fault: t.string }, {}),
  },
);
export type VcsaState = t.TypeOf<typeof VcsaState>;

/** A version that the management server can be brought to. */
export const ApplianceUpdate = model(
  { version: Identifier },
  {
    name: Identifier,
    releaseDate: Identifier,
    severity: OneOf("CRITICAL", "IMPORTANT", "MODERATE", "LOW"),
  },
);
export type ApplianceUpdate = t.TypeOf<typeof ApplianceUpdate>;

/** The management server itself (docs/simulator.md): what it runs, what it is offered, and addresses that are taken. */
export const ApplianceConfig = model(
  {},
  { version: Identifier, updates: ListOf(ApplianceUpdate), usedAddresses: ListOf(Identifier) },
);
export type ApplianceConfig = t.TypeOf<typeof ApplianceConfig>;

/** The configuration with everything that it leaves out. */
export function applianceConfig(configured: ApplianceConfig = {}): Required<ApplianceConfig> {
  return {
    version: "9.0.0.0",
    updates: [{ version: "9.0.1.0" }, { version: "9.0.2.0" }],
    usedAddresses: [],
    ...configured,
  };
}
