import * as E from "fp-ts/Either";
import * as O from "fp-ts/Option";
import type { Option } from "fp-ts/Option";
import * as T from "fp-ts/Task";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import type { AdmissionRequest, Rejection } from "../domain/admission/admission-rule";
import { admitUpgrade } from "../domain/admission/admit-upgrade";
import { neededLocks } from "../domain/admission/lock-rules";
import type { ErrorBody } from "../domain/errors";
import type { ClusterFacts, ClusterLookup } from "../domain/plan/facts";
import { planUpgrade } from "../domain/plan/plan-upgrade";
import { closedWarnings, type KnownForPreview, previewOf, type UpgradePreview } from "../domain/plan/preview";
import { clustersOf, type ClusterUpgradePlan, resourcesOf, type UpgradePlan } from "../domain/plan/upgrade-plan";
import type { HoldingUpgrade } from "../domain/resource-lock";
import type { Bundle } from "../domain/spec/bundle";
import { boundedWarnings, type RequestWarning } from "../domain/spec/request-warning";
import type { Task } from "../domain/spec/task";
import type { UpgradeSpec } from "../domain/spec/upgrade-spec";
import { initialTask } from "../domain/task/task-progress";
import type { ActivityWaits } from "../domain/time-limits";
import type { BundleCatalog, Deadline, Freezes, Holds, Identities, Inventory, UpgradeExecutions } from "./ports";
import { whyClosed } from "./freeze";
import { admitHeld } from "./holds";
import { silent } from "./read-installations";
import { badRequest, failedDependency, notAllowed, type Problem, type ServiceError } from "./service-error";
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
        admitAndPlan(deps, { ...request, caller }, identities.newId(), until),
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
    admitAndPlan(deps, { ...request, caller }, id, until),
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

/** An Idempotency-Key that belongs to another request. */
export const keyReused: Problem = {
  path: "Idempotency-Key",
  code: "IDEMPOTENCY_KEY_REUSED",
  message: "This Idempotency-Key was used for another request.",
  remediation: "Send a new key, or the original request of this key.",
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

export interface PreviewDependencies extends PlanDependencies {
  readonly executions: Pick<UpgradeExecutions, "lockHolders" | "readClusterWork">;
  readonly inventory: Pick<Inventory, "clusters" | "readClusters" | "installations" | "readHosts" | "openingOf">;
}

/**
 * What a start with the same request would do now, or why it would be refused. Starts nothing. Hosts that a component
 * manager does not tell are not in the waves; the preview is good without them, and says so.
 */
export function previewUpgrade(deps: PreviewDependencies) {
  return (spec: UpgradeSpec, warnings?: readonly RequestWarning[]): TE.TaskEither<ServiceError, UpgradePreview> =>
    pipe(
      admitAndPlan(deps, { spec, ...(warnings && { warnings }) }, deps.identities.newId()),
      TE.chainTaskK((plan) =>
        pipe(
          showPlan(deps, plan),
          T.map((preview) => {
            const all = [
              ...(preview.warnings ?? []),
              ...closedWarnings(plan, deps.inventory.openingOf, deps.identities.now()),
            ];
            return all.length > 0 ? { ...preview, warnings: [...boundedWarnings(all)] } : preview;
          }),
        ),
      ),
    );
}

/** What an upgrade does or has done, by its own plan: nothing is decided again, so nothing is refused. */
export function readPlan(deps: ReadPlanDependencies) {
  return (id: string): TE.TaskEither<ServiceError, UpgradePreview> =>
    pipe(
      deps.executions.readPlan(id),
      TE.chainTaskK((plan) => showPlan(deps, plan)),
    );
}

export interface ReadPlanDependencies {
  readonly executions: Pick<UpgradeExecutions, "readPlan" | "readClusterWork">;
  readonly inventory: Pick<Inventory, "readHosts" | "openingOf">;
}

interface ShowDependencies {
  readonly executions: Pick<UpgradeExecutions, "readClusterWork">;
  readonly inventory: Pick<Inventory, "readHosts" | "openingOf">;
}

/** The hosts and the earlier upgrades of its clusters are read at the same time. */
function showPlan({ executions, inventory }: ShowDependencies, plan: UpgradePlan): T.Task<UpgradePreview> {
  const ids = clustersOf(plan).map(({ resourceId }) => resourceId);
  return pipe(
    hostsOf(inventory, plan),
    T.apS("work", ids.length === 0 ? T.of([]) : executions.readClusterWork(ids)),
    T.map((known) => previewOf(plan, known, (places) => inventory.openingOf(places))),
  );
}

/** The clusters that would be upgraded, each with its hosts. A plan without HOSTOS reads none. */
function hostsOf(inventory: Pick<Inventory, "readHosts">, plan: UpgradePlan): T.Task<Omit<KnownForPreview, "work">> {
  const readOne = (cluster: ClusterUpgradePlan) =>
    pipe(
      inventory.readHosts(cluster),
      T.map((read) => ({ cluster, read })),
    );
  return pipe(
    T.traverseArray(readOne)(clustersOf(plan)),
    T.map((all) => ({
      hosts: new Map(
        all.flatMap(({ cluster, read }) => (E.isRight(read) ? [[cluster.resourceId, read.right] as const] : [])),
      ),
      errors: new Map<string, ErrorBody>(
        all.flatMap(({ cluster, read }) =>
          E.isLeft(read) ? [[cluster.resourceId, silent(cluster.componentManagerId, read.left)] as const] : [],
        ),
      ),
    })),
  );
}

/** What is read to decide on a request and to plan its upgrade. */
export interface PlanDependencies {
  readonly executions: Pick<UpgradeExecutions, "lockHolders">;
  readonly freezes: Pick<Freezes, "read">;
  readonly holds: Pick<Holds, "read" | "list">;
  readonly catalog: Pick<BundleCatalog, "find">;
  readonly inventory: Pick<
    Inventory,
    "clusters" | "readClusters" | "readHosts" | "installations" | "notifications" | "checks"
  >;
  readonly identities: Identities;
  /** Days that a failed upgrade stays open. */
  readonly resolutionDays: number;
  /** Minutes by which a scheduled upgrade may begin late by itself. */
  readonly lateStartMinutes: number;
  /** Minutes before its time from which on a scheduled upgrade holds the locks of its resources. */
  readonly lockLeadMinutes: number;
  /** Minutes after which receivers of notifications are told of a wait. */
  readonly longWaitMinutes?: number;
  /** Where people open the console. */
  readonly publicUrl?: string | undefined;
  /** Where Temporal is reached, for commands that people are shown. */
  readonly temporalAddress?: string | undefined;
  /** How long its Activities are tried; absent means the defaults. */
  readonly waits: ActivityWaits;
}

/** What is left for Temporal after the component managers, in milliseconds: who does not answer is then told apart. */
const restOfStart = 1000;

/** A request, and what was ignored of it before. */
interface WarnedSpec {
  readonly spec: UpgradeSpec;
  /** Who asks; absent where nothing is started. */
  readonly caller?: string;
  readonly warnings?: readonly RequestWarning[];
}

/** Of the configuration what a plan keeps. */
function planSettings({
  resolutionDays,
  lateStartMinutes,
  lockLeadMinutes,
  longWaitMinutes,
  publicUrl,
  temporalAddress,
  waits,
}: Omit<PlanDependencies, "catalog" | "inventory" | "executions" | "freezes" | "holds" | "identities">) {
  return { resolutionDays, lateStartMinutes, lockLeadMinutes, longWaitMinutes, publicUrl, temporalAddress, waits };
}

/** Admits a request and plans its upgrade, which must be neither frozen nor held. */
function admitAndPlan(
  deps: PlanDependencies,
  request: WarnedSpec,
  id: string,
  until?: Deadline,
): TE.TaskEither<ServiceError, UpgradePlan> {
  return pipe(
    planAdmitted(deps, request, id, until),
    TE.chainFirst((plan) => refuseFrozen(deps.freezes, plan)),
    TE.chain((plan) => admitHeld(deps.holds, plan)),
  );
}

/** Reads what the decision on a request depends on, applies every rule of admission, and plans the upgrade. */
export function planAdmitted(
  { catalog, inventory, executions, identities, ...settings }: PlanDependencies,
  { spec, warnings = [], caller }: WarnedSpec,
  id: string,
  until: Deadline = Infinity,
): TE.TaskEither<ServiceError, UpgradePlan> {
  const ids = spec.resourceUpgradeSpecs.map(({ resourceId }) => resourceId);
  const { installations, notifications = [], checks = [] } = inventory;
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
        TE.bind("hosts", ({ clusters }) => TE.fromTask(hostsToChoose(inventory, spec, clusters))),
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
          lockLeadMinutes: settings.lockLeadMinutes,
          lockHolders: E.getOrElseW(() => new Map<string, HoldingUpgrade>())(holders),
          ...facts,
        }),
        E.mapLeft((rejections) => refusal(rejections, holders)),
        E.chainFirst(() => holders),
        E.map((admitted) =>
          planUpgrade(admitted, {
            id,
            now,
            checks,
            notifications,
            warnings,
            requestedBy: caller,
            ...planSettings(settings),
          }),
        ),
      ),
    ),
  );
}

/** Only a draft can be made while something of it is frozen. */
function refuseFrozen(freezes: Pick<Freezes, "read">, plan: UpgradePlan): TE.TaskEither<ServiceError, void> {
  if (plan.draft) return TE.right(undefined);
  return pipe(
    whyClosed(
      freezes,
      resourcesOf(plan).flatMap(({ places }) => places.map(({ domain }) => domain)),
    ),
    TE.chain((problem) => (problem ? TE.left(notAllowed(problem)) : TE.right(undefined))),
  );
}

/** The hosts of the clusters of which the request names some; only those are read. */
function hostsToChoose(
  inventory: Pick<Inventory, "readHosts">,
  { resourceUpgradeSpecs }: UpgradeSpec,
  clusters: ReadonlyMap<string, ClusterLookup>,
): T.Task<NonNullable<AdmissionRequest["hosts"]>> {
  const chosen = resourceUpgradeSpecs.flatMap(({ resourceId, hosts }) => {
    const lookup = clusters.get(resourceId);
    return hosts && lookup?._tag === "Known" ? [lookup.facts] : [];
  });
  return pipe(
    T.traverseArray((facts: ClusterFacts) =>
      pipe(
        inventory.readHosts(facts),
        T.map((read) => [facts.resourceId, read] as const),
      ),
    )(chosen),
    T.map((all) => new Map(all)),
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
