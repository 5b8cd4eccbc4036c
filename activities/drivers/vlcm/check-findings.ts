import { type HostScope, isInScope } from "../../../src/domain/plan/host-scope";
import { CheckResult, type TaskInfo } from "./vlcm-models";

/** Something that the product's own health check does not accept; `host` is absent where it is about the cluster. */
export interface CheckFinding {
  readonly host?: string;
  /** The name of the check. */
  readonly check: string;
  readonly issue: string;
}

/** Warnings do not stop a remediation. */
const passed = new Set(["OK", "WARNING"]);

/**
 * What the ended task of a health check found; undefined where it has no result that could be judged. Hosts outside `scope`
 * may have any status, which is then that of the cluster too.
 */
export function checkFindings({ result }: TaskInfo, scope?: HostScope): CheckFinding[] | undefined {
  if (!CheckResult.is(result)) return undefined;
  const asked = result.entity_results.filter(({ host }) => host === undefined || isInScope(scope, host));
  const findings = asked.flatMap(({ host, status, check_statuses }): CheckFinding[] => {
    const about = host === undefined ? {} : { host };
    const failed = check_statuses.filter((check) => !passed.has(check.status));
    if (failed.length === 0 && !passed.has(status)) return [{ ...about, check: "health check", issue: `is ${status}` }];
    return failed.map(({ check, status: found, issues }) => {
      const texts = issues.map(({ default_message }) => default_message).join(" ");
      return { ...about, check: check.name.default_message, issue: texts || `is ${found}` };
    });
  });
  if (findings.length === 0 && asked.length === result.entity_results.length && !passed.has(result.status))
    return [{ check: "health check", issue: `is ${result.status}` }];
  return findings;
}
