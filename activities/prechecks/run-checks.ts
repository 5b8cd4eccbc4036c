import { CancelledFailure } from "@temporalio/common";
import type { ErrorBody } from "../../src/domain/errors";
import type { Stage } from "../../src/domain/spec/task";
import { toTimestamp } from "../../src/domain/timestamp";
import type { HostMaintenance } from "../clusters/host-maintenance";
import type { ClusterTarget, ResourcePrechecks } from "../contract";
import { bounded } from "../drivers/driver-error";
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
  /** The reasons why the condition does not hold; none where it does. A throw is a check that could not be made. */
  run(input: Input): Promise<ErrorBody[]>;
}

interface RunOptions<Type extends string, Input> {
  /** In an order in which every check comes after those that it needs. */
  readonly checks: readonly Check<Type, Input>[];
  readonly input: Input;
  readonly context: FailureContext;
  /** Called with each Stage as it ends. */
  onStage(stage: Stage): void;
  /** Whether a check that could not be made is to be tried again by Temporal instead of having failed. */
  isOutage(error: unknown): boolean;
}

/** Runs every check, whatever the others find: one Stage each. Only a cancellation and an outage throw. */
export async function runChecks<Type extends string, Input>(options: RunOptions<Type, Input>): Promise<void> {
  const { checks, input, context, onStage, isOutage } = options;
  const failed = new Set<Type>();
  for (const check of checks) {
    const missing = check.needs.filter((type) => failed.has(type));
    const stage = await stageOf(check, context, isOutage, () =>
      missing.length > 0 ? Promise.resolve([notRun(check.name, missing, context)]) : check.run(input),
    );
    if (stage.status === "FAILED") failed.add(check.type);
    onStage(stage);
  }
}

async function stageOf(
  { name, type, description }: Pick<Check<string, never>, "name" | "type" | "description">,
  context: FailureContext,
  isOutage: RunOptions<never, never>["isOutage"],
  run: () => Promise<ErrorBody[]>,
): Promise<Stage> {
  const creationTimestamp = toTimestamp(Date.now());
  let errors: ErrorBody[];
  try {
    errors = await run();
  } catch (error) {
    if (error instanceof CancelledFailure || isOutage(error)) throw error;
    errors = [errorBodyOf(error, context)];
  }
  return {
    name,
    type,
    description,
    status: errors.length > 0 ? "FAILED" : "SUCCESSFUL",
    creationTimestamp,
    completionTimestamp: toTimestamp(Date.now()),
    ...(errors.length > 0 && { errors }),
  };
}

function notRun(name: string, missing: readonly string[], context: FailureContext): ErrorBody {
  return {
    errorCode: "PRECHECK_NOT_RUN",
    errorType: "FAILED_DEPENDENCY",
    message: `Not run: "${name}" needs ${missing.join(" and ")} to succeed first.`,
    remediationMessage: `Resolve the errors of ${missing.join(" and ")}, then run the prechecks again.`,
    context: { ...context },
  };
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
  | "HOSTS_CAN_BE_EMPTIED";

/** One condition that must hold before a cluster is touched; `I` is what clusters of its kind are checked with. */
export type Precheck<I extends AnyPrecheckInput = PrecheckInput> = Check<PrecheckType, I>;

/** Errors that one check reports at most; a cluster where more is wrong needs no longer list to be looked at. */
const maximumErrors = 20;

/** One reason why a condition does not hold. */
export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly remediation: string;
  readonly context?: Readonly<Record<string, string>>;
}

/** Findings as the errors of a Stage, with the cluster in their context. */
export function findingsOf({ target, client }: AnyPrecheckInput, findings: readonly Finding[]): ErrorBody[] {
  return errorsOf({ cluster: target.cluster.name, componentManager: client.id }, findings);
}

/** Findings as the errors of a Stage; `about` says which resource they are about. */
export function errorsOf(about: Readonly<Record<string, string>>, findings: readonly Finding[]): ErrorBody[] {
  return findings.slice(0, maximumErrors).map(({ code, message, remediation, context }) => ({
    errorCode: code,
    errorType: "FAILED_DEPENDENCY",
    message: bounded(message, 500),
    remediationMessage: remediation,
    context: { ...about, ...context },
  }));
}
