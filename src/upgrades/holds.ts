import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import { heldError, type Hold, type HoldSpec, type HoldTarget, type PageOfHold } from "../domain/hold";
import { pageOf, type PageRequest } from "../domain/page";
import type { ClusterEntryFacts } from "../domain/plan/facts";
import { findHost, isInScope } from "../domain/plan/host-scope";
import { clustersOf, resourcesOf, type UpgradePlan } from "../domain/plan/upgrade-plan";
import { boundedWarnings, type RequestWarning } from "../domain/spec/request-warning";
import { toEpochMilliseconds, toTimestamp } from "../domain/timestamp";
import type { Holds, Identities, Inventory } from "./ports";
import { silent } from "./read-installations";
import { badRequest, failedDependency, notAllowed, notFound, type Problem, type ServiceError } from "./service-error";

export interface HoldDependencies {
  readonly holds: Holds;
  readonly inventory: Pick<Inventory, "clusters" | "readClusters" | "readHosts">;
  readonly identities: Pick<Identities, "now">;
}

/** Who places or releases a hold. */
export interface HoldCaller {
  readonly caller: string;
  /** Whether the holds of others are theirs to release. */
  readonly isAdmin: boolean;
}

/** Places a hold, in the place of one of the same caller. The hold of somebody else takes an ADMIN to replace. */
export function putHold(deps: HoldDependencies) {
  return (asked: HoldTarget, spec: HoldSpec, by: HoldCaller): TE.TaskEither<ServiceError, Hold> => {
    const now = deps.identities.now();
    const { reason, until } = spec;
    if (until !== undefined && toEpochMilliseconds(until) <= now) return TE.left(badRequest(endHasPassed(until)));
    const cluster = deps.inventory.clusters.find(({ resourceId }) => resourceId === asked.clusterId);
    if (!cluster) return TE.left(notFound("cluster", asked.clusterId));
    return pipe(
      hostToHold(deps, cluster, asked.hostId),
      TE.chain((host) =>
        place(deps, by, {
          clusterId: cluster.resourceId,
          clusterName: cluster.name,
          ...host,
          reason,
          placedBy: nameOf(by),
          since: toTimestamp(now),
          ...(until !== undefined && { until }),
        }),
      ),
    );
  };
}

/** Two tries: between the look and the request somebody else may have been first, which the second look finds. */
function place(deps: HoldDependencies, by: HoldCaller, hold: Hold, isAgain = false): TE.TaskEither<ServiceError, Hold> {
  return pipe(
    deps.holds.read([hold]),
    TE.chain(([before]) => (before ? mayRelease(before, by) : TE.right(false))),
    TE.chain((replaces) => deps.holds.put(hold, { replaces })),
    TE.chain((placed) => {
      if (placed === "PLACED") return TE.right(hold);
      return isAgain
        ? TE.left(notAllowed(ofAnother("Another operator placed a hold at the same moment.")))
        : place(deps, by, hold, true);
    }),
  );
}

/** Releases a hold; succeeds also where nothing is held. `hostId`: the host's id, or the name that it had when it was held. */
export function releaseHold(deps: HoldDependencies) {
  return (asked: HoldTarget, by: HoldCaller): TE.TaskEither<ServiceError, void> =>
    pipe(
      deps.holds.read([asked]),
      TE.chain(([hold]) => (hold || asked.hostId === undefined ? TE.right(hold) : findByName(deps.holds, asked))),
      TE.chain((hold) => {
        const isKnown = deps.inventory.clusters.some(({ resourceId }) => resourceId === asked.clusterId);
        if (!hold) return isKnown ? TE.right(undefined) : TE.left(notFound("cluster", asked.clusterId));
        return pipe(
          mayRelease(hold, by),
          TE.chain(() => deps.holds.release(hold, nameOf(by))),
        );
      }),
    );
}

/** The holds in force, the oldest first. */
export function listHolds({ holds }: Pick<HoldDependencies, "holds">) {
  return (page?: PageRequest): TE.TaskEither<ServiceError, PageOfHold> =>
    pipe(
      holds.list(),
      TE.map((all) =>
        pageOf(
          [...all].sort((a, b) => a.since.localeCompare(b.since)),
          page,
        ),
      ),
    );
}

/** The holds of clusters of which a plan would begin something. Fails where that cannot be read. */
export function findHeldClusters({ holds }: { readonly holds: Pick<Holds, "read"> }, plan: UpgradePlan) {
  const clusters = resourcesOf(plan).flatMap(({ places }) => places.flatMap((one) => one.clusters ?? []));
  return holds.read([...new Set(clusters)].map((clusterId) => ({ clusterId })));
}

/** Refuses a plan of which a cluster is held. A draft waits for it, and says so, as it does of hosts that are held. */
export function admitHeld(
  holds: Pick<Holds, "read" | "list">,
  plan: UpgradePlan,
): TE.TaskEither<ServiceError, UpgradePlan> {
  return pipe(
    findHeldClusters({ holds }, plan),
    TE.chain((clusters) =>
      clusters.length > 0 && !plan.draft
        ? TE.left(notAllowed(clusters.map((hold) => heldProblem(hold, plan))))
        : TE.right(clusters),
    ),
    TE.chainTaskK((clusters) => async () => {
      // They are looked at again when their turn comes: not to be told of them now is no reason to refuse anything.
      const listed = E.getOrElse((): readonly Hold[] => [])(await holds.list()());
      const hosts = listed.filter((hold) => isHostOf(plan, hold));
      const warnings = [...clusters, ...hosts].map((hold): RequestWarning => {
        const { remediation: _, ...warning } = heldProblem(hold, plan);
        return warning;
      });
      if (warnings.length === 0) return plan;
      return { ...plan, warnings: boundedWarnings([...(plan.warnings ?? []), ...warnings]) };
    }),
  );
}

/** What is wrong with a plan because of a hold, by the field of its request that names the cluster. */
export function heldProblem(hold: Hold, { spec }: Pick<UpgradePlan, "spec">): Problem {
  const { errorCode: code = "", message, remediationMessage: remediation = "" } = heldError(hold);
  const place = spec.resourceUpgradeSpecs.findIndex(({ resourceId }) => resourceId === hold.clusterId);
  return { ...(place >= 0 && { path: `resourceUpgradeSpecs[${place}].resourceId` }), code, message, remediation };
}

function isHostOf(plan: UpgradePlan, { clusterId, hostId }: Hold): boolean {
  return clustersOf(plan).some(
    ({ resourceId, hosts }) => resourceId === clusterId && hostId !== undefined && isInScope(hosts, hostId),
  );
}

/** The host that is meant, by its id or name. */
function hostToHold(
  { inventory }: Pick<HoldDependencies, "inventory">,
  { resourceId, componentManagerId }: ClusterEntryFacts,
  text: string | undefined,
): TE.TaskEither<ServiceError, Pick<Hold, "hostId" | "hostName">> {
  if (text === undefined) return TE.right({});
  const unread = (silence: Parameters<typeof silent>[1]) => {
    const { errorCode: code = "", message, remediationMessage: remediation = "" } = silent(componentManagerId, silence);
    return failedDependency({ code, message, remediation });
  };
  return pipe(
    inventory.readClusters([resourceId]),
    TE.chain((lookups) => {
      const lookup = lookups.get(resourceId);
      if (lookup?._tag === "Unread") return TE.left(unread(lookup.silence));
      if (lookup?._tag !== "Known") return TE.right([]);
      return pipe(inventory.readHosts(lookup.facts), TE.mapLeft(unread));
    }),
    TE.chain((members) => {
      const host = findHost(members, text);
      return host ? TE.right({ hostId: host.id, hostName: host.fqdn }) : TE.left(notFound("host", text));
    }),
  );
}

function findByName(holds: Pick<Holds, "list">, { clusterId, hostId = "" }: HoldTarget) {
  const name = hostId.toLowerCase();
  return pipe(
    holds.list(),
    TE.map((all) => all.find((hold) => hold.clusterId === clusterId && hold.hostName?.toLowerCase() === name)),
  );
}

function mayRelease(hold: Hold, by: HoldCaller): TE.TaskEither<ServiceError, true> {
  if (by.isAdmin || hold.placedBy === nameOf(by)) return TE.right(true);
  return TE.left(notAllowed(ofAnother(heldError(hold).message)));
}

function ofAnother(message: string): Problem {
  const remediation = "Ask whoever placed it, or an ADMIN, to release it.";
  return { code: "HOLD_OF_ANOTHER", message, remediation };
}

function nameOf({ caller }: HoldCaller): string {
  return caller.slice(0, 255);
}

function endHasPassed(until: string): Problem {
  const message = `The end of the hold, ${until}, has passed.`;
  return { path: "until", code: "SCHEDULE_IN_THE_PAST", message, remediation: "Give a time in the future, or none." };
}
