import { CancelledFailure } from "@temporalio/common";
import type { ErrorBody } from "../../src/domain/error-body";
import type { Stage } from "../../src/domain/task";
import { toTimestamp } from "../../src/domain/timestamp";
import { errorBodyOf, type FailureContext } from "../failures";

/** One condition that must hold before a resource is touched; `I` is what it works with, `T` are the types of all. */
export interface Check<I, T extends string> {
  readonly type: T;
  readonly name: string;
  readonly description: string;
  /** Checks without whose success this one cannot be made. */
  readonly needs: readonly T[];
  /** The reasons why the condition does not hold; none where it does. A throw is a check that could not be made. */
  run(input: I): Promise<ErrorBody[]>;
}

/**
 * Runs every check, whatever the others find, and gives one Stage each to `report`. The checks are in an order in which
 * every one comes after those that it needs. Only a cancellation throws.
 */
export async function runChecks<I, T extends string>(
  checks: readonly Check<I, T>[],
  input: I,
  context: FailureContext,
  report: (stage: Stage) => void,
): Promise<void> {
  const failed = new Set<T>();
  for (const check of checks) {
    const missing = check.needs.filter((type) => failed.has(type));
    const stage = await stageOf(check, context, () =>
      missing.length > 0 ? Promise.resolve([notRun(check.name, missing, context)]) : check.run(input),
    );
    if (stage.status === "FAILED") failed.add(check.type);
    report(stage);
  }
}

async function stageOf(
  { name, type, description }: Pick<Stage, "name" | "type" | "description">,
  context: FailureContext,
  run: () => Promise<ErrorBody[]>,
): Promise<Stage> {
  const creationTimestamp = toTimestamp(Date.now());
  let errors: ErrorBody[];
  try {
    errors = await run();
  } catch (error) {
    if (error instanceof CancelledFailure) throw error;
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
