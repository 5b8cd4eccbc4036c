import { type HostScope, isInScope } from "../../../src/domain/plan/host-scope";
import { CheckResult, type TaskInfo } from "./vlcm-models";

/** Something that the product's own health check reports; `host` is absent where it is about the cluster. */
export interface CheckFinding {
  /** Warnings do not stop a remediation. */
  readonly severity: "ERROR" | "WARNING";
  readonly host?: string;
  /** The name of the check. */
  readonly check: string;
  readonly issue: string;
}

/** What tells findings about the same host or cluster apart: their check, and what it says. */
export function checkSubject({ check, issue }: CheckFinding): string {
  return `${check}: ${issue}`.slice(0, 1024);
}

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
    const told = check_statuses.filter((check) => check.status !== "OK");
    // Where no check says why.
    if (told.every((check) => passed.has(check.status)) && !passed.has(status))
      return [{ severity: "ERROR", ...about, check: "health check", issue: `is ${status}` }];
    return told.map(({ check, status: found, issues }) => {
      const texts = issues.map(({ default_message }) => default_message).join(" ");
      return {
        severity: severityOf(found),
        ...about,
        check: check.name.default_message,
        issue: texts || `is ${found}`,
      };
    });
  });
  const isWhole = asked.length === result.entity_results.length;
  if (findings.every(({ severity }) => severity !== "ERROR") && isWhole && !passed.has(result.status))
    return [...findings, { severity: "ERROR", check: "health check", issue: `is ${result.status}` }];
  return findings;
}

/** A status that is not known is an error. */
function severityOf(status: string): CheckFinding["severity"] {
  return status === "WARNING" ? "WARNING" : "ERROR";
}
