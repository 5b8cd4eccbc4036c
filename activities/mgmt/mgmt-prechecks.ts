import type { Stage } from "../../src/domain/spec/task";
import { compareVersions } from "../../src/domain/version";
import { isOutage, pacedRetry, precheckRetryPolicy, runActivity } from "../activity-run";
import type { PrecheckOptions, ResourcePrechecks } from "../contract";
import { textsOf } from "../drivers/vapi/vapi-models";
import { errorBodyOf } from "../failures";
import type { MgmtPrecheckInput } from "../mgmt-contract";
import { type Finding, type Found, foundError, runChecks, VersionsRead } from "../prechecks/run-checks";
import { mgmtAdvice } from "./mgmt-advice";
import { type MgmtCheck, mgmtFindings } from "./mgmt-check";
import { mgmtContext, type MgmtDependencies } from "./mgmt-step";
import { brokenUpdate, isForeign, isSameVersion, offeredVersion, readMigrationView, readUpdateView } from "./mgmt-view";
import { checkMigration, migrationSpec, missingSettings } from "./prepare-migration";
import { findingsOfUpdate, otherStaged } from "./update";

/** The management server's check of the migration finds no error. */
const migrationCheck: MgmtCheck = {
  type: "MGMT_MIGRATION_CHECK",
  name: "Migration check",
  description: "The management server's check of the migration finds no error.",
  needs: ["MGMT_NO_DOWNGRADE", "MGMT_NO_UPDATE_IN_PROGRESS", "MGMT_SETTINGS"],
  run: async (input) => {
    const { target, client, retryPolicy, settings } = input;
    const { version, migration } = await retryPolicy.retry(() => readMigrationView(client));
    // Once it is under way its new appliance has the temporary address itself, and would be found in the way.
    const underWay = ["STAGING", "STAGED", "PREPARING", "PREPARED"].includes(migration.current_state ?? "");
    if (isSameVersion(version, target.targetVersion) || underWay) return [];
    const targetVersion = await offeredVersion(client, retryPolicy, target.targetVersion);
    const { errors, warnings } = await checkMigration(
      client,
      retryPolicy,
      migrationSpec({ ...target, targetVersion }, settings),
    );
    return mgmtFindings(input, [
      ...errors.map((issue) => ({
        code: "MGMT_CHECK_FAILED",
        message: `The management server's check of the migration: ${issue}`,
        remediation: "Resolve what the check reports, then run the prechecks again.",
      })),
      ...warnings.map((issue) => checkWarning("migration", issue)),
    ]);
  },
};

/** A warning of the management server's own check. */
function checkWarning(what: "update" | "migration", issue: string): Finding {
  return {
    severity: "WARNING",
    code: "MGMT_CHECK_WARNING",
    message: `The management server's check of the ${what}: ${issue}`,
    remediation: "Find out what the warning means for the management server, or acknowledge it.",
    subject: issue,
  };
}

/** The inventory says all that a migration needs beside the request. */
const migrationSettings: MgmtCheck = {
  type: "MGMT_SETTINGS",
  name: "Settings for the migration",
  description: "The inventory has the temporary root password and, for a STATIC network, the DNS servers.",
  needs: [],
  run: (input) => Promise.resolve(mgmtFindings(input, missingSettings(input.target, input.settings))),
};

/** The management server is not newer than the target: it cannot go back. */
const noMgmtDowngrade: MgmtCheck = {
  type: "MGMT_NO_DOWNGRADE",
  name: "No downgrade",
  description: "The management server has no newer version than the target.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const version = await retryPolicy.retry(() => client.readVersion());
    input.versionsRead?.([version]);
    if (compareVersions(version, target.targetVersion) <= 0) return [];
    return mgmtFindings(input, [
      {
        code: "MGMT_NEWER_THAN_TARGET",
        message: `Management server ${target.server.name} has version ${version}, which is newer than ${target.targetVersion}.`,
        remediation: "Choose a bundle that is at least as new as the management server.",
        context: { version },
      },
    ]);
  },
};

const running = new Set(["STAGE_IN_PROGRESS", "INSTALL_IN_PROGRESS"]);

/** Nobody else's update or migration is under way, and none has left the appliance broken. */
const noUpdateInProgress: MgmtCheck = {
  type: "MGMT_NO_UPDATE_IN_PROGRESS",
  name: "No other update in progress",
  description: "No other update or migration of the management server is running, and none has failed permanently.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { server, targetVersion, mechanism } = target;
    const view = await retryPolicy.retry(() => readUpdateView(client));
    const broken = brokenUpdate(server.name, view);
    if (broken) return [foundError(errorBodyOf(broken.error, mgmtContext(target)))];
    const found: Found[] = [];
    const { update, staged } = view;
    if (running.has(update.state))
      found.push(...mgmtFindings(input, [busy(server.name, `An update is ${update.state}`)]));
    else if (mechanism === "InPlace" && staged?.staging_complete && !isSameVersion(staged.version, targetVersion)) {
      found.push(foundError(errorBodyOf(otherStaged(server.name, staged.version), mgmtContext(target))));
    }
    const { migration } = await retryPolicy.retry(() => readMigrationView(client));
    const { current_state: state } = migration;
    const isSet = state !== undefined && state !== "CANCELED" && state !== "UPGRADED";
    // A migration to the target is one that an earlier attempt has left: it is gone on with.
    if (isSet && (mechanism === "InPlace" || isForeign(migration, targetVersion)))
      found.push(...mgmtFindings(input, [busy(server.name, `A migration is ${state}`)]));
    return found;
  },
};

function busy(server: string, what: string) {
  return {
    code: "MGMT_BUSY",
    message: `${what} on management server ${server}.`,
    remediation: "Wait for it to end or cancel it in the management server, then run the prechecks again.",
  };
}

/** The management server answers and accepts our credentials. */
const serverReachable: MgmtCheck = {
  type: "COMPONENT_MANAGER_REACHABLE",
  name: "Management server reachable",
  description: "The management server answers and accepts the service's credentials.",
  needs: [],
  run: async ({ client, retryPolicy }) => {
    await retryPolicy.retry(() => client.readUpdate());
    return [];
  },
};

/** The update to the target is offered to the appliance. */
const updateAvailable: MgmtCheck = {
  type: "MGMT_UPDATE_AVAILABLE",
  name: "Update available",
  description: "The management server's update repository offers the target version.",
  needs: ["MGMT_NO_DOWNGRADE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { server, targetVersion } = target;
    if (isSameVersion(await retryPolicy.retry(() => client.readVersion()), targetVersion)) return [];
    const offered = await retryPolicy.retry(() => client.listPendingUpdates());
    if (offered.some((version) => isSameVersion(version, targetVersion))) return [];
    return mgmtFindings(input, [
      {
        code: "MGMT_UPDATE_NOT_OFFERED",
        message: `Management server ${server.name} is offered ${offered.join(", ") || "no update"}, not ${targetVersion}.`,
        remediation: "Add the update to the management server's repository, then run the prechecks again.",
      },
    ]);
  },
};

/** The appliance's own check of the update finds no error, and its questions are answered. */
const updateCheck: MgmtCheck = {
  type: "MGMT_UPDATE_CHECK",
  name: "Update check",
  description: "The management server's check of the update finds no error, and all of its questions are answered.",
  needs: ["MGMT_NO_UPDATE_IN_PROGRESS", "MGMT_UPDATE_AVAILABLE"],
  run: async (input) => {
    const { target, client, retryPolicy, settings } = input;
    if (isSameVersion(await retryPolicy.retry(() => client.readVersion()), target.targetVersion)) return [];
    const offered = await offeredVersion(client, retryPolicy, target.targetVersion);
    const precheck = await retryPolicy.retry(() => client.precheckUpdate(offered));
    return mgmtFindings(input, [
      ...findingsOfUpdate(target.server.name, precheck, settings),
      ...textsOf(precheck.issues?.warnings).map((issue) => checkWarning("update", issue)),
    ]);
  },
};

/** All checks of each mechanism, in an order in which every one comes after those that it needs. */
const prechecks: Record<MgmtPrecheckInput["mechanism"], readonly MgmtCheck[]> = {
  InPlace: [serverReachable, noMgmtDowngrade, noUpdateInProgress, updateAvailable, updateCheck, ...mgmtAdvice],
  ReducedDowntimeMigration: [
    serverReachable,
    noMgmtDowngrade,
    noUpdateInProgress,
    migrationSettings,
    migrationCheck,
    ...mgmtAdvice,
  ],
};

/**
 * Runs every check of a management server, whatever the others find, and gives one Stage each. Only the Activity's own
 * end (cancelled, Worker stopped, management server not in the inventory) throws.
 */
export function runMgmtPrechecks(
  { serverOf, limits }: MgmtDependencies,
  target: MgmtPrecheckInput & PrecheckOptions,
): Promise<ResourcePrechecks> {
  const context = mgmtContext(target);
  const stages: Stage[] = [];
  const versions = new VersionsRead();
  return runActivity({ context, heartbeat: () => ({ stages: [...stages] }), failure: pacedRetry }, async (beat) => {
    const { client, settings } = serverOf(target);
    const retryPolicy = precheckRetryPolicy(limits, target);
    const input = { target, client, settings, retryPolicy, versionsRead: versions.add };
    const onStage = (stage: Stage) => {
      stages.push(stage);
      beat();
    };
    await runChecks({
      checks: prechecks[target.mechanism],
      input,
      context,
      resourceId: target.server.resourceId,
      acknowledged: target.acknowledged,
      onStage,
      isOutage: (error) => isOutage(retryPolicy, limits, error),
    });
    return { stages, ...versions.result };
  });
}
