import { pipe } from "fp-ts/function";
import * as O from "fp-ts/Option";
import * as TE from "fp-ts/TaskEither";
import type { Task } from "../domain/task";
import { initialTask } from "../domain/task-progress";
import { admitAndPlan, type PlanDependencies, type WarnedSpec } from "./admit-and-plan";
import type { Deadline, UpgradeExecutions } from "./ports";
import { badRequest, failedDependency, type Problem, type ServiceError } from "./service-error";
import type { StartRequest } from "./upgrade-service";

export interface StartUpgradeDependencies extends PlanDependencies {
  readonly executions: Pick<UpgradeExecutions, "start" | "findStarted" | "lockHolders">;
  /** How long a start may take, with all that it asks of others, in milliseconds; absent means as long as each of them. */
  readonly startMilliseconds?: number;
}

/**
 * Starts an upgrade (Spec 4.1): reads what the decision depends on, applies every admission rule, plans, and starts
 * the Workflow. With an Idempotency-Key a repeated request gets the original initial Task and starts nothing.
 */
export function startUpgrade(deps: StartUpgradeDependencies) {
  return ({ caller, idempotencyKey, ...request }: StartRequest): TE.TaskEither<ServiceError, Task> => {
    const { identities, startMilliseconds = Infinity } = deps;
    const until = identities.now() + startMilliseconds;
    if (idempotencyKey === undefined) {
      return pipe(
        admitAndPlan(deps, request, identities.newId(), until),
        TE.chain((plan) =>
          pipe(
            deps.executions.start(plan, { requestedBy: caller }, until),
            TE.map(() => initialTask(plan)),
          ),
        ),
      );
    }
    const id = identities.idFor(caller, idempotencyKey);
    return startOnce(deps, request, caller, id, until);
  };
}

/**
 * Starts at once and looks for an earlier self of the request where that fails: nearly every key is new, Temporal runs one
 * Workflow of an id, and of requests with one key that race one starts it. All answer its Task.
 */
function startOnce(deps: StartUpgradeDependencies, request: WarnedSpec, caller: string, id: string, until: Deadline) {
  const digest = deps.identities.digest(request.spec);
  const earlier = () => repeated(deps, id, digest, until);
  return pipe(
    admitAndPlan(deps, request, id, until),
    TE.matchE(
      // What is refused now may have been accepted before: its own upgrade holds the lock, its bundle was recalled since.
      // Where Temporal does not answer, asking again would only take as long again.
      (error) => {
        const unreachable = unreachableIn(error);
        return unreachable
          ? TE.left<ServiceError, Task>(failedDependency(unreachable))
          : pipe(earlier(), TE.chain(TE.fromOption(() => error)));
      },
      (plan) =>
        pipe(
          deps.executions.start(plan, { requestedBy: caller, requestDigest: digest }, until),
          TE.chain((started) =>
            started === "STARTED"
              ? TE.right<ServiceError, Task>(initialTask(plan))
              : pipe(earlier(), TE.chain(TE.fromOption(() => badRequest(keyReused)))),
          ),
        ),
    ),
  );
}

const keyReused: Problem = {
  path: "Idempotency-Key",
  code: "IDEMPOTENCY_KEY_REUSED",
  message: "This Idempotency-Key has been used for another request.",
  remediation: "Send a new key, or exactly the request that the key was used for.",
};

/** That Temporal does not answer, among whatever else is wrong: then nobody knows whether the request was accepted before. */
function unreachableIn(error: ServiceError): Problem | undefined {
  return "problems" in error ? error.problems.find(({ code }) => code === "TEMPORAL_UNREACHABLE") : undefined;
}

/** The initial Task of the request's earlier self; none where the key is new; an error where it was another request. */
function repeated(deps: StartUpgradeDependencies, id: string, digest: string, until: Deadline) {
  return pipe(
    deps.executions.findStarted(id, until),
    TE.chain(
      O.match(
        () => TE.right<ServiceError, O.Option<Task>>(O.none),
        ({ task, requestDigest }) =>
          requestDigest === digest ? TE.right(O.some(task)) : TE.left(badRequest(keyReused)),
      ),
    ),
  );
}
