import * as t from "io-ts";
import type { ComponentManagerAccess } from "../component-manager-access";
import { DriverError, isNotFound } from "../driver-error";
import { type VapiCall, VapiHttp, type VapiHttpOptions } from "../vapi/vapi-http";
import { Notifications, TaskInfo } from "../vapi/vapi-models";
import {
  ApplianceCertificate,
  ApplianceTime,
  ApplianceVersion,
  BackupJobs,
  type MigrationSpec,
  MigrationStatus,
  PendingUpdates,
  StagedUpdate,
  UpdateInfo,
  UpdatePrecheck,
} from "./vcsa-models";

/** Answers to questions that an installation asks, by the product's name of each. May hold passwords. */
export type Answers = Readonly<Record<string, string>>;

/**
 * The appliance of a management server: its update in place and its migration to a new appliance, one method per HTTP
 * call. What changes something is asynchronous: `readUpdate` or `readMigration` tells how it goes on. All throw
 * DriverError; only GETs are repeated unasked.
 */
export interface VcsaClient {
  readonly id: string;
  /** The host of its address. */
  readonly fqdn: string;
  /** The appliance's own time in epoch milliseconds, to the second. */
  now(): number;
  readVersion(): Promise<string>;
  readUpdate(): Promise<UpdateInfo>;
  /** Versions that the appliance knows and does not run yet. */
  listPendingUpdates(): Promise<string[]>;
  precheckUpdate(version: string): Promise<UpdatePrecheck>;
  /** What the appliance says of the answers to its questions. */
  validateUpdate(version: string, answers: Answers): Promise<Notifications>;
  stageUpdate(version: string): Promise<void>;
  /** The update that is staged or being staged; undefined where there is none. */
  readStagedUpdate(): Promise<StagedUpdate | undefined>;
  /** Ends a staging. */
  cancelUpdate(): Promise<void>;
  installUpdate(version: string, answers: Answers): Promise<void>;

  readMigration(): Promise<MigrationStatus>;
  initMigration(spec: MigrationSpec): Promise<void>;
  /** Gives a task, whose result is a `ValidationResult`. */
  checkMigration(spec: MigrationSpec): Promise<string>;
  /** Goes on with a migration: up to the switchover (`pause`), or through it. */
  applyMigration(how: { readonly pause: boolean }): Promise<void>;
  cancelMigration(): Promise<void>;
  readTask(task: string): Promise<TaskInfo>;
  /** The appliance's own time in epoch milliseconds. */
  readTime(): Promise<number>;
  /** When the last backup ended that succeeded, in epoch milliseconds; undefined where none has. */
  readLastBackup(): Promise<number | undefined>;
  /** When its certificate expires, in epoch milliseconds. */
  readCertificateEnd(): Promise<number>;
  /** How the appliance judges the free space of its disks: green, yellow, orange, red or gray. */
  readStorageHealth(): Promise<string>;
  /** Logs out and drops the connections. Never throws. */
  close(): Promise<void>;
}

/** What the appliance calls itself busy with: one update or migration at a time, and none in the wrong state. */
const busy = {
  code: "MGMT_BUSY",
  remediation:
    "Wait for the other update or migration of the management server to end, or cancel it there, then retry the upgrade.",
};

export function createVcsaClient(
  access: ComponentManagerAccess,
  options: Pick<VapiHttpOptions, "callTimeout" | "clock" | "quickRetries" | "secrets" | "observe">,
): VcsaClient {
  const http = new VapiHttp(access, { ...options, busy, product: "vcsa" });
  const ask = <A>(call: VapiCall, codec: t.Decoder<unknown, A>) => http.call(call, codec);
  const tell = async (call: VapiCall): Promise<void> => void (await http.call(call, t.unknown));
  const update = "api/appliance/update";
  const pending = (version: string) => `${update}/pending/${encodeURIComponent(version)}`;
  // The upgrade service's own endpoint: it answers during the switchover and on sources of every version, where `/api` does
  // not (vSphere API 9.0, "Vcenter Lcm APIs").
  const upgradeService = "lcm/api";
  const migration = `${upgradeService}/vcenter/lcm/deployment/migration-upgrade`;
  const withoutSession = true;

  return {
    id: access.id,
    fqdn: new URL(access.url).hostname,
    now: () => http.now(),
    readVersion: async () =>
      (await ask({ what: "read its version", method: "GET", path: "api/appliance/system/version" }, ApplianceVersion))
        .version,
    readUpdate: () => ask({ what: "read the state of its update", method: "GET", path: update }, UpdateInfo),
    listPendingUpdates: async () => {
      const query = { source_type: "LOCAL_AND_ONLINE" };
      try {
        const call = {
          what: "list its updates",
          method: "GET",
          path: `${update}/pending`,
          query,
          mayBeMissing: true,
        } as const;
        return (await ask(call, PendingUpdates)).map(({ version }) => version);
      } catch (error) {
        if (isNotFound(error)) return [];
        throw error;
      }
    },
    precheckUpdate: (version) =>
      ask(
        {
          what: `check update ${version}`,
          method: "POST",
          path: pending(version),
          mayBeMissing: true,
          query: { action: "precheck" },
          json: {},
          onlyChecks: true,
        },
        UpdatePrecheck,
      ),
    validateUpdate: (version, answers) =>
      ask(
        {
          what: `validate the answers for update ${version}`,
          method: "POST",
          path: pending(version),
          mayBeMissing: true,
          query: { action: "validate" },
          json: { user_data: answers },
          onlyChecks: true,
        },
        Notifications,
      ),
    stageUpdate: (version) =>
      tell({
        what: `stage update ${version}`,
        method: "POST",
        path: pending(version),
        mayBeMissing: true,
        query: { action: "stage" },
        json: {},
      }),
    readStagedUpdate: async () => {
      try {
        return await ask({ what: "read the staged update", method: "GET", path: `${update}/staged` }, StagedUpdate);
      } catch (error) {
        // The product's word for "nothing is staged".
        if (error instanceof DriverError && error.errorType === "NOT_ALLOWED_IN_CURRENT_STATE") return undefined;
        throw error;
      }
    },
    cancelUpdate: () => tell({ what: "cancel its update", method: "POST", path: update, query: { action: "cancel" } }),
    installUpdate: (version, answers) =>
      tell({
        what: `install update ${version}`,
        method: "POST",
        path: pending(version),
        mayBeMissing: true,
        query: { action: "install" },
        json: { user_data: answers },
      }),

    readMigration: () =>
      ask(
        {
          what: "read the state of its migration",
          method: "GET",
          path: `${migration}/status`,
          mayBeMissing: true,
          withoutSession,
        },
        MigrationStatus,
      ),
    initMigration: (spec) =>
      tell({
        what: `prepare its migration to ${spec.version}`,
        method: "PUT",
        path: migration,
        withoutSession,
        json: spec,
      }),
    checkMigration: (spec) =>
      ask(
        {
          what: `check its migration to ${spec.version}`,
          method: "POST",
          path: migration,
          withoutSession,
          query: { action: "check", "vmw-task": "true" },
          json: spec,
          onlyChecks: true,
        },
        t.string,
      ),
    applyMigration: ({ pause }) =>
      tell({
        what: pause ? "continue its migration" : "start the switchover",
        method: "POST",
        path: migration,
        withoutSession,
        query: { action: "apply" },
        json: pause ? { pause: "BEFORE_SWITCHOVER" } : {},
      }),
    cancelMigration: () =>
      tell({
        what: "cancel its migration",
        method: "POST",
        path: migration,
        withoutSession,
        query: { action: "cancel" },
      }),
    readTask: (task) =>
      ask(
        {
          what: `read task ${task}`,
          method: "GET",
          path: `${upgradeService}/cis/tasks/${encodeURIComponent(task)}`,
          withoutSession,
          mayBeMissing: true,
        },
        TaskInfo,
      ),
    readTime: async () => {
      const path = "api/appliance/system/time";
      return 1000 * (await ask({ what: "read its time", method: "GET", path }, ApplianceTime)).seconds_since_epoch;
    },
    readLastBackup: async () => {
      const path = "api/appliance/recovery/backup/job/details";
      const jobs = Object.values(await ask({ what: "list its backups", method: "GET", path }, BackupJobs));
      const ends = jobs.filter(({ status }) => status === "SUCCEEDED").map(({ end_time = "" }) => Date.parse(end_time));
      const known = ends.filter((end) => !Number.isNaN(end));
      return known.length > 0 ? Math.max(...known) : undefined;
    },
    readCertificateEnd: async () => {
      const path = "api/vcenter/certificate-management/vcenter/tls";
      return Date.parse(
        (await ask({ what: "read its certificate", method: "GET", path }, ApplianceCertificate)).valid_to,
      );
    },
    readStorageHealth: () =>
      ask({ what: "read the health of its disks", method: "GET", path: "api/appliance/health/storage" }, t.string),
    close: () => http.close(),
  };
}
