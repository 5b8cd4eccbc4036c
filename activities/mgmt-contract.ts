import type { MaintenancePlace } from "../src/domain/opening";
import type { AttemptPolicy, MgmtTemporaryNetwork, MgmtUpgradePlan } from "../src/domain/plan/upgrade-plan";
import type { RunAgain } from "../src/domain/task/host-remediation";
import type { MgmtProgress } from "../src/domain/task/mgmt-progress";
import type { PrecheckOptions, ResourcePrechecks } from "./precheck-contract";

/** A management server and the version that it is to be brought to. */
export interface MgmtTarget {
  readonly server: Pick<MgmtUpgradePlan, "resourceId" | "name" | "componentManagerId">;
  readonly targetVersion: string;
  /** The places that must be open for it to begin: without freeze, and in their maintenance windows. */
  readonly places: readonly MaintenancePlace[];
}

/** A target together with the way to it. */
export interface MgmtPrecheckInput extends MgmtTarget {
  readonly mechanism: MgmtUpgradePlan["mechanism"];
  /** Only of a migration; absent means AUTOMATIC. */
  readonly temporaryNetwork?: MgmtTemporaryNetwork;
}

/** One Stage per precheck, all of them, failed ones with their errors. Failed checks are a result, not a failure. */
/** A management server as it is now. */
export interface MgmtServer {
  /** The host of its address in the inventory. */
  readonly fqdn: string;
  readonly version: string;
  readonly atTarget: boolean;
}

/** One step on a management server, tried as often as the upgrade says. */
export interface MgmtStepInput extends MgmtTarget, RunAgain<MgmtProgress> {
  /** `maximumAttempts` counts failures that the management server reported, over all runs of the Activity. */
  readonly attempts: AttemptPolicy;
}

export interface MgmtMigrationInput extends MgmtStepInput {
  /** Absent means AUTOMATIC. */
  readonly temporaryNetwork?: MgmtTemporaryNetwork;
}

/**
 * The Activities of management servers, by the rules of the others: failures are ApplicationFailures with a code and
 * details, and every one may run again after a crash at any point. All that change something heartbeat
 * {@link MgmtProgress}, and find out what is true before they ask for anything: nothing is installed or switched over
 * twice.
 */
export interface MgmtActivities {
  /** Runs every precheck of a management server, changes nothing. Heartbeats its Stages as they finish. */
  runMgmtPrechecks(input: MgmtPrecheckInput & PrecheckOptions): Promise<ResourcePrechecks>;
  readMgmtServer(target: MgmtTarget): Promise<MgmtServer>;
  /** InPlace: until the update is staged. */
  stageMgmtUpdate(input: MgmtStepInput): Promise<void>;
  /** InPlace: until the appliance is back and runs the target version, which it gives. Brought to its end once begun. */
  installMgmtUpdate(input: MgmtStepInput): Promise<{ version: string }>;
  /** ReducedDowntimeMigration: until all but the switchover is done. A cancellation leaves it to `cancelMgmtMigration`. */
  prepareMgmtMigration(input: MgmtMigrationInput): Promise<void>;
  /** ReducedDowntimeMigration: until the new appliance answers in the old one's place. Brought to its end once begun. */
  switchOverMgmtMigration(input: MgmtStepInput): Promise<{ version: string }>;
  /** Takes a migration to the target back, where there is one and its switchover has not begun. */
  cancelMgmtMigration(target: MgmtTarget): Promise<void>;
}
