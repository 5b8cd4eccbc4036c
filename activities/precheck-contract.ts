import type { Stage } from "../src/domain/spec/task";
import type { FindingKey } from "../src/domain/task/findings";
import type { VersionCounts } from "../src/domain/upgrade/upgrade-facts";
import type { WorkStage } from "./work-stage";

/** One Stage per precheck, all of them, failed ones with their errors. Failed checks are a result, not a failure. */
export interface ResourcePrechecks {
  readonly stages: Stage[];
  /** How many hosts run which version, where it has been read. Of a server its own. */
  readonly versions?: VersionCounts;
}

/** How prechecks are run. */
export interface PrecheckOptions {
  /** FIRST_CONTACT where nothing is said. */
  readonly stage?: WorkStage;
  /** Findings that an operator has acknowledged: a check with no others does not keep those from being made that need it. */
  readonly acknowledged?: readonly FindingKey[];
  /** Only of clusters: how many hosts are in work at once; absent where their virtual machines are switched off. */
  readonly hostsAtOnce?: number;
}
