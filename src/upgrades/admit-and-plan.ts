import * as E from "fp-ts/Either";
import { pipe } from "fp-ts/function";
import type { Option } from "fp-ts/Option";
import * as TE from "fp-ts/TaskEither";
import type { ActivityWaits } from "../domain/activity-waits";
import { admitUpgrade } from "../domain/admission/admit-upgrade";
import type { Rejection } from "../domain/admission/admission-rule";
import { neededLocks } from "../domain/admission/resources-free";
import { planUpgrade } from "../domain/plan-upgrade";
import type { Bundle } from "../domain/bundle";
import type { RequestWarning } from "../domain/request-warning";
import type { UpgradePlan } from "../domain/upgrade-plan";
import type { UpgradeSpec } from "../domain/upgrade-spec";
import type { BundleCatalog, Deadline, Identities, Inventory, UpgradeExecutions } from "./ports";
import { badRequest, failedDependency, notAllowed, type Problem, type ServiceError } from "./service-error";

export interface PlanDependencies {
  readonly executions: Pick<UpgradeExecutions, "lockHolders">;
  readonly catalog: Pick<BundleCatalog, "find">;
  readonly inventory: Pick<Inventory, "clusters" | "readClusters" | "installations" | "notifications">;
  readonly identities: Identities;
  /** Days that a failed upgrade stays open. */
  readonly resolutionDays: number;
  /** Minutes by which a scheduled upgrade may begin late by itself. */
  readonly lateStartMinutes: number;
  /** How long its Activities are tried; absent means the defaults. */
  readonly waits: ActivityWaits;
}

/** What is left for Temporal after the component managers, in milliseconds: who does not answer is then told apart. */
const restOfStart = 1000;

/** A request, and what was ignored of it before. */
export interface WarnedSpec {
  readonly spec: UpgradeSpec;
  readonly warnings?: readonly RequestWarning[];
}

/** Reads what the decision on a request depends on, applies every rule of admission, and plans the upgrade. */
export function admitAndPlan(
  { catalog, inventory, executions, identities, resolutionDays, lateStartMinutes, waits }: PlanDependencies,
  { spec, warnings = [] }: WarnedSpec,
  id: string,
  until: Deadline = Infinity,
): TE.TaskEither<ServiceError, UpgradePlan> {
  const ids = spec.resourceUpgradeSpecs.map(({ resourceId }) => resourceId);
  const { installations, notifications = [] } = inventory;
  const now = identities.now();
  const named = new Set(ids);
  const clusters = inventory.clusters.filter(({ resourceId }) => named.has(resourceId));
  const locks = (bundle: Option<Bundle>) =>
    neededLocks({ spec, bundle, installations, clusters }).map(({ lock }) => lock);
  return pipe(
    catalog.find(spec.bundleId),
    TE.chain((bundle) =>
      pipe(
        TE.Do,
        TE.apS("bundle", TE.right(bundle)),
        TE.apS("clusters", inventory.readClusters(ids, until - restOfStart)),
        // At the same time, and an error among them: the other rules can still say that the request can never succeed.
        TE.apS("holders", TE.fromTask(executions.lockHolders(locks(bundle), until))),
      ),
    ),
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
        E.map((admitted) =>
          planUpgrade(admitted, { id, now, resolutionDays, lateStartMinutes, notifications, waits, warnings }),
        ),
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
