import { proxyActivities } from "@temporalio/workflow";
import type { MgmtMigrationInput, MgmtServer, UpgradeActivities } from "../activities/contract";
import { MgmtProgress } from "../src/domain/mgmt-progress";
import { mgmtTarget } from "./activity-targets";
import { runAttached } from "./attached-activity";
import type { MgmtUpgradeInput } from "./messages";
import { changeOptions, readOptions, takeBackOptions } from "./retry-policy";
import { untilAnswered } from "./until-answered";

const reads = proxyActivities<Pick<UpgradeActivities, "readMgmtServer">>(readOptions());
const changes = proxyActivities<UpgradeActivities>(changeOptions({ maximumAttempts: 1, retryDelay: 0 }));
const takeBacks = proxyActivities<Pick<UpgradeActivities, "cancelMgmtMigration">>(takeBackOptions());

/** The changes of a management server: the Activity of each, its id behind `mgmt/`, and what it is called. */
const steps = {
  stageMgmtUpdate: { id: "stage", summary: "stage update" },
  installMgmtUpdate: { id: "install", summary: "install update" },
  prepareMgmtMigration: { id: "prepare", summary: "prepare new appliance" },
  switchOverMgmtMigration: { id: "switch-over", summary: "switch over" },
} as const;

/** Runs one change of a management server, as often as its attempts allow; where it is lost, it goes on from there. */
export function runMgmtStep(step: keyof typeof steps, { mgmt, waits }: MgmtUpgradeInput): Promise<unknown> {
  const { id, summary } = steps[step];
  const { name, attempts } = mgmt;
  const input: MgmtMigrationInput = { ...mgmtTarget(mgmt), attempts };
  return runAttached({
    name,
    attempts,
    waits,
    progress: MgmtProgress,
    reportedFailures: ({ reportedFailures }) => reportedFailures,
    run: (left, again): Promise<unknown> =>
      changes[step].executeWithOptions(
        { ...changeOptions(left, waits), activityId: `mgmt/${id}`, summary: `${name}: ${summary}` },
        [{ ...input, ...again }],
      ),
  });
}

export function readMgmtServer({ mgmt, waits }: MgmtUpgradeInput): Promise<MgmtServer> {
  const options = { ...readOptions(waits), activityId: "mgmt/read", summary: `${mgmt.name}: read version` };
  return untilAnswered(waits, () => reads.readMgmtServer.executeWithOptions(options, [mgmtTarget(mgmt)]));
}

/** Takes back what was prepared of a migration, where its switchover has not begun. */
export function cancelMgmtMigration({ mgmt, waits }: MgmtUpgradeInput): Promise<void> {
  const options = { ...takeBackOptions(waits), activityId: "mgmt/cancel", summary: `${mgmt.name}: cancel migration` };
  return untilAnswered(waits, () => takeBacks.cancelMgmtMigration.executeWithOptions(options, [mgmtTarget(mgmt)]));
}
