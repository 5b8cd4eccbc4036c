import { CancelledFailure } from "@temporalio/common";
import type { ErrorBody } from "../../src/domain/errors";
import type { Finding as StageFinding, FindingSeverity } from "../../src/domain/spec/finding";
import type { Stage } from "../../src/domain/spec/task";
import { whyNotAcknowledgeable } from "../../src/domain/task/acknowledgeable";
import { type FindingKey, isSameFinding } from "../../src/domain/task/findings";
import { toTimestamp } from "../../src/domain/timestamp";
import type { HostMaintenance } from "../clusters/host-maintenance";
import type { ClusterTarget, ResourcePrechecks } from "../contract";
import { bounded } from "../drivers/driver-error";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import { errorBodyOf, type FailureContext } from "../failures";
import type { RetryPolicy } from "../retry-policy";

/** One condition that must hold before something is touched; `Input` is what every check of a list works with. */
export interface Check<Type extends string, Input> {
  readonly type: Type;
  readonly name: string;
  readonly description: string;
  /** Checks without whose success this one cannot be made. */
  readonly needs: readonly Type[];
  /** What it finds: it has failed where an ERROR is among that. A throw is a check that could not be made. */
  run(input: Input): Promise<readonly Found[]>;
}

interface RunOptions<Type extends string, Input> {
  /** In an order in which every check comes after those that it needs. */
  readonly checks: readonly Check<Type, Input>[];
  readonly input: Input;
  readonly context: FailureContext;
  readonly resourceId: string;
  /** Findings that an operator has acknowledged. */
  readonly acknowledged?: readonly FindingKey[] | undefined;
  /** Called with each Stage as it ends. */
  onStage(stage: Stage): void;
  /** Whether a check that could not be made is to be tried again by Temporal instead of having failed. */
  isOutage(error: unknown): boolean;
}

/**
 * Runs every check, whatever the others find: one Stage each. One whose errors are all acknowledged counts as passed. Only a
 * cancellation and an outage throw.
 */
export async function runChecks<Type extends string, Input>(options: RunOptions<Type, Input>): Promise<void> {
  const { checks, input, context, onStage } = options;
  const failed = new Set<Type>();
  for (const check of checks) {
    const missing = check.needs.filter((type) => failed.has(type));
    const { stage, hasFailed } = await stageOf(check, options, () =>
      missing.length > 0 ? Promise.resolve([notRun(check.name, missing, context)]) : check.run(input),
    );
    if (hasFailed) failed.add(check.type);
    onStage(stage);
  }
}

async function stageOf<Type extends string, Input>(
  { name, type, description }: Check<Type, Input>,
  { context, isOutage, resourceId, acknowledged = [] }: RunOptions<Type, Input>,
  run: () => Promise<readonly Found[]>,
): Promise<{ readonly stage: Stage; readonly hasFailed: boolean }> {
  const creationTimestamp = toTimestamp(Date.now());
  let all: readonly Found[];
  try {
    all = await run();
  } catch (error) {
    if (error instanceof CancelledFailure || isOutage(error)) throw error;
    all = [foundError(errorBodyOf(error, context))];
  }
  const isAccepted = (found: Found) => acknowledged.some((one) => isSameFinding(one, toFinding(found, resourceId)));
  const rank = (found: Found) => severities.indexOf(found.severity) + (isAccepted(found) ? severities.length : 0);
  const sorted = [...all].sort((a, b) => rank(a) - rank(b));
  const isBlocking = (found: Found) => found.severity === "ERROR" && !isAccepted(found);
  const unlisted = sorted.slice(maximumFindings).filter(isBlocking).length;
  const found = [...sorted.slice(0, maximumFindings), ...(unlisted > 0 ? [notListed(name, unlisted, context)] : [])];
  const errors = found.filter(({ severity }) => severity === "ERROR").map(({ error }) => error);
  const stage: Stage = {
    name,
    type,
    description,
    status: errors.length > 0 ? "FAILED" : "SUCCESSFUL",
    creationTimestamp,
    completionTimestamp: toTimestamp(Date.now()),
    ...(errors.length > 0 && { errors }),
    ...(found.length > 0 && { findings: found.map((one) => toFinding(one, resourceId)) }),
  };
  return { stage, hasFailed: found.some(isBlocking) };
}

/** The most severe first. */
const severities: readonly FindingSeverity[] = ["ERROR", "WARNING", "INFO"];

function toFinding({ error, severity, host, subject }: Found, resourceId: string): StageFinding {
  const { errorCode: code = "UNEXPECTED", message, remediationMessage = "" } = error;
  return {
    severity,
    code,
    message,
    remediationMessage,
    resourceId,
    isAcknowledgeable: severity !== "INFO" && whyNotAcknowledgeable(code) === undefined,
    ...(host && { hostId: host.id, hostName: host.name }),
    ...(subject !== undefined && { subject: subject.slice(0, 1024) }),
  };
}

function notRun(name: string, missing: readonly string[], context: FailureContext): Found {
  return foundError({
    errorCode: "PRECHECK_NOT_RUN",
    errorType: "FAILED_DEPENDENCY",
    message: `Not run: "${name}" needs ${missing.join(" and ")} to succeed first.`,
    remediationMessage: `Resolve the errors of ${missing.join(" and ")}, then run the prechecks again.`,
    context: { ...context },
  });
}

/** Nobody can accept what nobody has seen. */
function notListed(name: string, errors: number, context: FailureContext): Found {
  return foundError({
    errorCode: "FINDINGS_UNLISTED",
    errorType: "FAILED_DEPENDENCY",
    message: `The check "${name}" has ${errors} more errors, which are not listed.`,
    remediationMessage: "Fix or acknowledge those that are listed, then run the prechecks again.",
    context: { ...context },
  });
}

/** How many hosts or servers run which version, as the checks read it. */
export class VersionsRead {
  private readonly counts: Record<string, number> = {};

  /** Takes what each of them runs; empty where that is not known. */
  readonly add = (versions: readonly string[]): void => {
    for (const version of versions) if (version !== "") this.counts[version] = (this.counts[version] ?? 0) + 1;
  };

  /** As prechecks give it. */
  get result(): Pick<ResourcePrechecks, "versions"> {
    return Object.keys(this.counts).length > 0 ? { versions: { ...this.counts } } : {};
  }
}

/** What every check works with. Nothing that a check does may change the cluster. */
export interface AnyPrecheckInput {
  readonly target: ClusterTarget;
  readonly client: { readonly id: string };
  readonly retryPolicy: RetryPolicy;
  /** Takes what each host runs, from the check that reads it; empty where that is not known. */
  readonly versionsRead?: (versions: readonly string[]) => void;
}

/** What checks of image-managed clusters work with. */
export interface PrecheckInput extends AnyPrecheckInput {
  readonly client: VlcmClient;
  readonly maintenance: HostMaintenance;
  /** The management interface of the same component manager. */
  readonly management: Vim25Client;
  readonly hostsAtOnce?: number | undefined;
}

export type PrecheckType =
  | "COMPONENT_MANAGER_REACHABLE"
  | "CLUSTER_IMAGE_MANAGED"
  | "HOSTS_CONNECTED"
  | "NO_OPERATION_IN_PROGRESS"
  | "TARGET_IMAGE_AVAILABLE"
  | "NO_DOWNGRADE"
  | "CLUSTER_HEALTH"
  | "CLUSTER_BASELINE_MANAGED"
  | "NO_HOST_IN_MAINTENANCE_MODE"
  | "TARGET_PATCH_AVAILABLE"
  | "HOSTS_CAN_BE_EMPTIED"
  | "ROOM_FOR_ROLLOUT"
  | "CERTIFICATES_VALID"
  | "CLOCKS_IN_SYNC";

/** One condition that must hold before a cluster is touched; `I` is what clusters of its kind are checked with. */
export type Precheck<I extends AnyPrecheckInput = PrecheckInput> = Check<PrecheckType, I>;

/** Findings that one check reports at most; a cluster where more is wrong needs no longer list to be looked at. */
const maximumFindings = 20;

/** Something that a check has found. */
export interface Finding {
  /** ERROR where nothing is said. */
  readonly severity?: FindingSeverity;
  readonly code: string;
  readonly message: string;
  readonly remediation: string;
  readonly context?: Readonly<Record<string, string>>;
  /** Absent where it is about the whole resource. */
  readonly host?: FoundHost;
  /** What it is about, where several of its code can be found of one resource or host: what is acknowledged is this alone. */
  readonly subject?: string;
}

interface FoundHost {
  /** The component manager's id of it. */
  readonly id: string;
  readonly name: string;
}

/** What a health check of a component manager, or one of its alarms, is as a finding. */
export const healthFindings = {
  ERROR: { severity: "ERROR", code: "HEALTH_CHECK_ERROR" },
  WARNING: { severity: "WARNING", code: "HEALTH_CHECK_WARNING" },
} as const;

/** A finding as it is reported, with the resource in the context of its error. */
export interface Found extends Pick<Finding, "host" | "subject"> {
  readonly error: ErrorBody;
  readonly severity: FindingSeverity;
}

/** An error that is a finding as it stands. */
export function foundError(error: ErrorBody): Found {
  return { error, severity: "ERROR" };
}

/** Findings about a cluster. */
export function findingsOf({ target, client }: AnyPrecheckInput, findings: readonly Finding[]): Found[] {
  return findingsAbout({ cluster: target.cluster.name, componentManager: client.id }, findings);
}

/** Findings; `about` says which resource they are about. */
export function findingsAbout(about: Readonly<Record<string, string>>, findings: readonly Finding[]): Found[] {
  return findings.map(({ severity = "ERROR", code, message, remediation, context, host, subject }) => ({
    error: {
      errorCode: code,
      errorType: "FAILED_DEPENDENCY",
      message: bounded(message, 500),
      remediationMessage: remediation,
      context: { ...about, ...(host && { host: host.name, hostId: host.id }), ...context },
    },
    severity,
    ...(host && { host }),
    ...(subject !== undefined && { subject }),
  }));
}
