import { ApplicationFailure } from "@temporalio/common";
import type { FailureDetails, MgmtActivities, MgmtStepInput } from "../../activities/contract";
import type { MgmtProgress } from "../../src/domain/task/mgmt-progress";

/** What a step knows after the management server has reported so many failures. */
export function mgmtProgress(reportedFailures = 0, activity = "Working."): MgmtProgress {
  return { reportedFailures, activity, percent: 40 };
}

/** The failure of a step; retryable where the attempts of its input are not used up, unless it is `final`. */
export function mgmtStepFailure(
  { attempts }: MgmtStepInput,
  { reported = 1, code = "MGMT_MIGRATION_FAILED", final = false } = {},
): ApplicationFailure {
  const error = { errorCode: code, errorType: "UPGRADE", message: `${code} happened`, remediationMessage: "Mend it." };
  const details: FailureDetails<MgmtProgress> = { error, progress: { ...mgmtProgress(reported), lastError: error } };
  const nonRetryable = final || reported >= attempts.maximumAttempts;
  return ApplicationFailure.create({ message: error.message, type: code, nonRetryable, details: [details] });
}

/** Activities of a management server that succeed at once, and a record of what was asked of them. */
export class FakeMgmtActivities {
  /** What was asked, in order. */
  readonly calls: (keyof MgmtActivities)[] = [];
  readonly steps: MgmtStepInput[] = [];
  version = "9.0.0.0";

  constructor(private readonly replaced: Partial<MgmtActivities> = {}) {}

  implementation(): MgmtActivities {
    const step = (name: keyof MgmtActivities, input: MgmtStepInput) => {
      this.calls.push(name);
      this.steps.push(input);
    };
    const upgraded = (targetVersion: string) => {
      this.version = targetVersion;
      return { version: targetVersion };
    };
    return {
      runMgmtPrechecks: async (input) => {
        this.calls.push("runMgmtPrechecks");
        return (await this.replaced.runMgmtPrechecks?.(input)) ?? { stages: [] };
      },
      readMgmtServer: async (target) => {
        this.calls.push("readMgmtServer");
        const { version } = this;
        const server = { fqdn: "vc-01.example.com", version, atTarget: version === target.targetVersion };
        return (await this.replaced.readMgmtServer?.(target)) ?? server;
      },
      stageMgmtUpdate: async (input) => {
        step("stageMgmtUpdate", input);
        await this.replaced.stageMgmtUpdate?.(input);
      },
      installMgmtUpdate: async (input) => {
        step("installMgmtUpdate", input);
        return (await this.replaced.installMgmtUpdate?.(input)) ?? upgraded(input.targetVersion);
      },
      prepareMgmtMigration: async (input) => {
        step("prepareMgmtMigration", input);
        await this.replaced.prepareMgmtMigration?.(input);
      },
      switchOverMgmtMigration: async (input) => {
        step("switchOverMgmtMigration", input);
        return (await this.replaced.switchOverMgmtMigration?.(input)) ?? upgraded(input.targetVersion);
      },
      cancelMgmtMigration: async (target) => {
        this.calls.push("cancelMgmtMigration");
        await this.replaced.cancelMgmtMigration?.(target);
      },
    };
  }
}
