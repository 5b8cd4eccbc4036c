import type { ErrorBody } from "../errors";
import type { Acknowledgement, Finding, FindingCounts } from "../spec/finding";
import type { Stage, SubTask, Task } from "../spec/task";
import { toEpochMilliseconds } from "../timestamp";
import { precheckType } from "./prechecks";

/** What tells the findings of one upgrade apart, in all runs of its prechecks. */
export type FindingKey = Pick<Finding, "code" | "resourceId" | "hostId" | "subject">;

/** A finding that an operator has acknowledged. */
export type AcknowledgedFinding = FindingKey & Acknowledgement;

/** The key alone. */
export function findingKey({ code, resourceId, hostId, subject }: FindingKey): FindingKey {
  return { code, resourceId, ...(hostId !== undefined && { hostId }), ...(subject !== undefined && { subject }) };
}

export function isSameFinding(one: FindingKey, other: FindingKey): boolean {
  return (
    one.code === other.code &&
    one.resourceId === other.resourceId &&
    one.hostId === other.hostId &&
    one.subject === other.subject
  );
}

/** Whether an acknowledgement still counts. `now` in epoch milliseconds. */
export function isInForce({ until }: Pick<Acknowledgement, "until">, now: number): boolean {
  return until === undefined || toEpochMilliseconds(until) > now;
}

/** Whether a finding is acknowledged now. */
export function isAcknowledged({ acknowledged }: Pick<Finding, "acknowledged">, now: number): boolean {
  return acknowledged !== undefined && isInForce(acknowledged, now);
}

/** Whether a finding keeps its resource from being upgraded now. */
export function isBlocking(finding: Finding, now: number): boolean {
  return finding.severity === "ERROR" && !isAcknowledged(finding, now);
}

/** Stages of prechecks with the acknowledgements that there are now: what is acknowledged is no error of its Stage. */
export function withAcknowledgements(
  stages: readonly Stage[],
  acknowledgements: readonly AcknowledgedFinding[],
  now: number,
): Stage[] {
  return stages.map((stage) => {
    const { findings, errors = [], ...rest } = stage;
    if (!findings) return stage;
    const marked = findings.map(({ acknowledged: before, ...finding }): Finding => {
      const found = acknowledgements.find((one) => isSameFinding(one, finding));
      if (!found) return before ? { ...finding, acknowledged: before } : finding;
      const { by, at, reason, until } = found;
      return { ...finding, acknowledged: { by, at, reason, ...(until !== undefined && { until }) } };
    });
    const blocking = marked.filter((finding) => isBlocking(finding, now));
    const told = (finding: Finding) => errors.find(({ message }) => message === finding.message) ?? toError(finding);
    return {
      ...rest,
      status: blocking.length > 0 ? ("FAILED" as const) : ("SUCCESSFUL" as const),
      findings: marked,
      ...(blocking.length > 0 && { errors: blocking.map(told) }),
    };
  });
}

function toError({ code, message, remediationMessage, resourceId, hostId, hostName }: Finding): ErrorBody {
  return {
    errorCode: code,
    errorType: "FAILED_DEPENDENCY",
    message,
    remediationMessage,
    context: { resourceId, ...(hostName !== undefined && { host: hostName }), ...(hostId !== undefined && { hostId }) },
  };
}

/**
 * A Task of whose prechecks findings have been acknowledged, or whose acknowledgements have ended: of each resource the
 * latest ones change, which decide whether it is upgraded. Earlier runs stay as they were.
 */
export function acknowledgeFindings(task: Task, acknowledgements: readonly AcknowledgedFinding[], now: number): Task {
  const latest = new Set(latestPrechecks(task).map(({ part }) => part));
  return {
    ...task,
    subTasks: (task.subTasks ?? []).map((run) => {
      if (run.type !== precheckType || !(run.subTasks ?? []).some((part) => latest.has(part))) return run;
      const subTasks = (run.subTasks ?? []).map((part) =>
        latest.has(part) ? acknowledgeIn(part, acknowledgements, now) : part,
      );
      const hasEnded = run.status === "FAILED" || run.status === "SUCCESSFUL";
      const status = subTasks.some((part) => part.status === "FAILED") ? ("FAILED" as const) : ("SUCCESSFUL" as const);
      return { ...run, ...(hasEnded && { status }), subTasks };
    }),
  };
}

function acknowledgeIn(part: SubTask, acknowledgements: readonly AcknowledgedFinding[], now: number): SubTask {
  const { stages: before, errors: _errors, ...rest } = part;
  if (!before?.some(({ findings }) => findings)) return part;
  const stages = withAcknowledgements(before, acknowledgements, now);
  const errors = stages.flatMap((stage) => stage.errors ?? []);
  const status = stages.some((stage) => stage.status === "FAILED") ? ("FAILED" as const) : ("SUCCESSFUL" as const);
  return { ...rest, status, stages, ...(errors.length > 0 && { errors }) };
}

/** The prechecks of one resource: the how manieth run they are part of, the first is 1. */
interface ResourcePrechecks {
  readonly run: number;
  readonly resourceId: string;
  readonly part: SubTask;
}

/** Of each resource the latest prechecks that have ended. */
export function latestPrechecks({ subTasks = [] }: Pick<Task, "subTasks">): readonly ResourcePrechecks[] {
  const latest = new Map<string, ResourcePrechecks>();
  subTasks
    .filter(({ type }) => type === precheckType)
    .forEach(({ subTasks: parts = [] }, i) => {
      for (const part of parts) {
        const resourceId = part.resources?.[0]?.resourceId;
        if (resourceId === undefined || !part.stages) continue;
        latest.set(resourceId, { run: i + 1, resourceId, part });
      }
    });
  return [...latest.values()];
}

/** A finding and the run of the prechecks that it is part of. */
export interface CurrentFinding {
  readonly run: number;
  readonly finding: Finding;
}

/** What the latest prechecks of each resource have found. */
export function currentFindings(task: Pick<Task, "subTasks">): readonly CurrentFinding[] {
  return latestPrechecks(task).flatMap(({ run, part: { stages = [] } }) =>
    stages.flatMap(({ findings = [] }) => findings.map((finding) => ({ run, finding }))),
  );
}

/** How many findings of each severity there are; undefined where there is none. */
export function countFindings(task: Pick<Task, "subTasks">, now: number): FindingCounts | undefined {
  const findings = currentFindings(task).map(({ finding }) => finding);
  if (findings.length === 0) return undefined;
  const open = findings.filter((finding) => !isAcknowledged(finding, now));
  const count = (severity: Finding["severity"]) => open.filter((finding) => finding.severity === severity).length;
  return {
    errors: count("ERROR"),
    warnings: count("WARNING"),
    infos: count("INFO"),
    acknowledged: findings.length - open.length,
  };
}
