import type { Stage } from "../src/domain/spec/task";
import type { VersionCounts } from "../src/domain/upgrade/upgrade-facts";

/** One Stage per precheck, all of them, failed ones with their errors. Failed checks are a result, not a failure. */
export interface ResourcePrechecks {
  readonly stages: Stage[];
  /** How many hosts run which version, where it has been read. Of a server its own. */
  readonly versions?: VersionCounts;
}
