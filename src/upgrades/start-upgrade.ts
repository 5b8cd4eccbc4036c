import * as E from "fp-ts/Either";
import { pipe } from "fp-ts/function";
import * as O from "fp-ts/Option";
import * as TE from "fp-ts/TaskEither";
import type { ActivityWaits } from "../domain/activity-waits";
import { admitUpgrade } from "../domain/admission/admit-upgrade";
import type { Rejection } from "../domain/admission/admission-rule";
import { neededLocks } from "../domain/admission/resources-free";
import { planUpgrade } from "../domain/plan-upgrade";
import type { Task } from "../domain/task";
import { initialTask } from "../domain/task-progress";
import type { UpgradePlan } from "../domain/upgrade-plan";
import type { UpgradeSpec } from "../domain/upgrade-spec";
import type { BundleCatalog, Identities, Inventory, UpgradeExecutions } from "./ports";
import { badRequest, failedDependency, notAllowed, type Problem, type ServiceError } from "./service-error";
import type { StartRequest } from "./upgrade-service";

export interface StartUpgradeDependencies {
  readonly executions: Pick<UpgradeExecutions, "start" | "findStarted" | "lockHolders">;
  readonly catalog: BundleCatalog;
  readonly inventory: Inventory;
  readonly identities: Identities;
  /** Days that a failed upgrade stays open. */
  readonly resolutionDays: number;
  /** How long its Activities are tried; absent means the defaults. */
  readonly waits?: ActivityWaits;
}

/**
 * Starts an upgrade (Spec 4.1): reads what the decision depends on, applies every admission rule, plans, and starts
 * the Workflow. With an Idempotency-Key a repeated request gets the original initial Task and starts nothing.
 */
export function startUpgrade(deps: StartUpgradeDependencies) {
  return ({ spec, caller, idempotencyKey }: StartRequest): TE.TaskEither<ServiceError, Task> => {
    const { identities } = deps;
    if (idempotencyKey === undefined) {
      return pipe(
        admitAndPlan(deps, spec, identities.newId()),
        TE.chain((plan) =>
          pipe(
            deps.executions.start(plan),
            TE.map(() => initialTask(plan)),
          ),
        ),
      );
    }
    const id = identities.idFor(caller, idempotencyKey);
    const digest = identities.digest(spec);
    return pipe(
      repeated(deps, id, digest),
      TE.chain(
        O.match(
          () => startOnce(deps, spec, id, digest),
          (task) => TE.right(task),
        ),
      ),
    );
  };
}

/** Of requests with one key that race, one starts the Workflow and all answer its Task. */
function startOnce(deps: StartUpgradeDependencies, spec: UpgradeSpec, id: string, digest: string) {
  return pipe(
    admitAndPlan(deps, spec, id),
    TE.matchE(
      // A racing request with the same key may have taken the lock in the meantime: then that is the answer.
      (error) =>
        pipe(
          repeated(deps, id, digest),
          TE.chain(
            O.match(
              () => TE.left<ServiceError, Task>(error),
              (task) => TE.right(task),
            ),
          ),
        ),
      (plan) =>
        pipe(
          deps.executions.start(plan, digest),
          TE.chain((started) =>
            started === "STARTED"
              ? TE.right<ServiceError, O.Option<Task>>(O.some(initialTask(plan)))
              : repeated(deps, id, digest),
          ),
          TE.chain(TE.fromOption(() => badRequest(keyReused))),
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

/** The initial Task of the request's earlier self; none where the key is new; an error where it was another request. */
function repeated(deps: StartUpgradeDependencies, id: string, digest: string) {
  return pipe(
    deps.executions.findStarted(id),
    TE.chain(
      O.match(
        () => TE.right<ServiceError, O.Option<Task>>(O.none),
        ({ task, requestDigest }) =>
          requestDigest === digest ? TE.right(O.some(task)) : TE.left(badRequest(keyReused)),
      ),
    ),
  );
}

function admitAndPlan(
  { catalog, inventory, executions, identities, resolutionDays, waits }: StartUpgradeDependencies,
  spec: UpgradeSpec,
  id: string,
): TE.TaskEither<ServiceError, UpgradePlan> {
  const ids = spec.resourceUpgradeSpecs.map(({ resourceId }) => resourceId);
  const { installations } = inventory;
  const now = identities.now();
  return pipe(
    TE.Do,
    TE.apS("bundle", catalog.find(spec.bundleId)),
    TE.apS("clusters", inventory.readClusters(ids)),
    TE.let("locks", (facts) => neededLocks({ spec, now, installations, ...facts }).map(({ lock }) => lock)),
    // Without them the other rules can still say that the request can never succeed.
    TE.bind("holders", ({ locks }) => TE.fromTask(executions.lockHolders(locks))),
    TE.chainEitherK(({ holders, ...facts }) =>
      pipe(
        admitUpgrade({
          spec,
          now,
          installations,
          lockHolders: E.getOrElseW(() => new Map<string, string>())(holders),
          ...facts,
        }),
        E.mapLeft((rejections) => refusal(rejections, holders)),
        E.chainFirst(() => holders),
        E.map((admitted) => planUpgrade(admitted, { id, now, resolutionDays, ...(waits && { waits }) })),
      ),
    ),
  );
}

/**
 * All rejections in one error, with what kept us from looking at the locks. Its kind is that of the one that the client
 * can mend first: 400, then 403, then 424.
 */
function refusal(rejections: readonly Rejection[], holders: E.Either<ServiceError, unknown>): ServiceError {
  const problems: Problem[] = [...rejections];
  if (E.isLeft(holders) && holders.left._tag === "FailedDependency") {
    problems.push(...holders.left.problems.map((problem) => ({ ...problem, effect: "FAILED_DEPENDENCY" as const })));
  }
  const effects = new Set(rejections.map(({ effect }) => effect));
  if (effects.has("BAD_REQUEST")) return badRequest(problems);
  if (effects.has("NOT_ALLOWED")) return notAllowed(problems);
  return failedDependency(problems);
}
