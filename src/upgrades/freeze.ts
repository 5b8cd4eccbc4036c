import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import { type Freeze, type FreezeSpec, type FreezeStatus, frozenError } from "../domain/freeze";
import type { Upgrade } from "../domain/spec/upgrade";
import { toEpochMilliseconds, toTimestamp } from "../domain/timestamp";
import type { Freezes, Identities, Inventory, UpgradeExecutions } from "./ports";
import { badRequest, type Problem, type ServiceError } from "./service-error";

export interface FreezeDependencies {
  readonly freezes: Freezes;
  readonly inventory: Pick<Inventory, "clusters" | "installations">;
  readonly executions: Pick<UpgradeExecutions, "list">;
  readonly identities: Pick<Identities, "now">;
}

/** Freezes domains, or everything, in the place of what these were frozen by before. Freezes of others stay. */
export function putFreeze(deps: FreezeDependencies) {
  return ({ reason, domains, until }: FreezeSpec, caller: string): TE.TaskEither<ServiceError, FreezeStatus> => {
    const now = deps.identities.now();
    const problems = [...pastEnd(until, now), ...unknownDomains(deps, domains ?? [])];
    if (problems.length > 0) return TE.left(badRequest(problems));
    const common = {
      reason,
      frozenBy: caller.slice(0, 255),
      since: toTimestamp(now),
      ...(until !== undefined && { until }),
    };
    const freezes: Freeze[] = domains ? [...new Set(domains)].map((domain) => ({ ...common, domain })) : [common];
    return pipe(
      TE.traverseArray((freeze: Freeze) => deps.freezes.put(freeze))(freezes),
      TE.chain(() => readFreeze(deps)()),
    );
  };
}

/** Lifts the freeze of a domain or, where none is named, all there are; succeeds also where nothing is frozen. */
export function liftFreeze(deps: FreezeDependencies) {
  return (domain: string | undefined, caller: string): TE.TaskEither<ServiceError, FreezeStatus> => {
    const unknown = domain === undefined ? [] : unknownDomains(deps, [domain], () => "domain");
    if (unknown.length > 0) return TE.left(badRequest(unknown));
    return pipe(
      domain === undefined
        ? pipe(
            deps.freezes.read(domainsOf(deps)),
            TE.map((freezes) => freezes.map((freeze) => freeze.domain)),
          )
        : TE.right([domain]),
      TE.chain(TE.traverseArray((one) => deps.freezes.lift(one, caller.slice(0, 255)))),
      TE.chain(() => readFreeze(deps)()),
    );
  };
}

/** What is frozen now, and how many hosts are finished all the same. */
export function readFreeze(deps: FreezeDependencies) {
  return (): TE.TaskEither<ServiceError, FreezeStatus> =>
    pipe(
      TE.Do,
      TE.apS("freezes", deps.freezes.read(domainsOf(deps))),
      TE.apS("running", TE.fromTask(deps.executions.list({ phase: atWork }, { pageNumber: 0, pageSize: mostRead }))),
      TE.map(({ freezes, running }) => ({
        frozen: freezes.length > 0,
        freezes: [...freezes],
        // That the list does not answer must not hide a freeze.
        ...(E.isRight(running) && { hostsInWork: hostsInWork(deps, running.right.elements ?? [], freezes) }),
      })),
    );
}

/** Phases in which hosts are in work. */
const atWork: NonNullable<Upgrade["phase"]>[] = ["RUNNING", "PAUSING", "CANCELLING"];

/** How many upgrades are looked at for their hosts. */
const mostRead = 100;

/** Of upgrades that something frozen is part of; of all of them where nothing or everything is frozen. */
function hostsInWork(deps: FreezeDependencies, upgrades: readonly Upgrade[], freezes: readonly Freeze[]): number {
  const frozen = new Set(freezes.map(({ domain }) => domain));
  const all = frozen.size === 0 || frozen.has(undefined);
  const { clusters, installations } = deps.inventory;
  const concerned = new Set([
    ...[...clusters, ...installations.netvirt].flatMap((one) => (frozen.has(one.domain) ? [one.resourceId] : [])),
    ...installations.management.flatMap((one) =>
      one.places.some(({ domain }) => frozen.has(domain)) ? [one.resourceId] : [],
    ),
  ]);
  return upgrades
    .filter(({ resources = [] }) => all || resources.some(({ resourceId = "" }) => concerned.has(resourceId)))
    .reduce((sum, { hosts }) => sum + (hosts?.running ?? 0), 0);
}

/** Why nothing of these domains may be started or committed now; undefined where it may. Fails where that cannot be read. */
export function whyClosed(freezes: Pick<Freezes, "read">, domains: readonly string[]) {
  return pipe(
    freezes.read(domains),
    TE.map(([freeze]): Problem | undefined => {
      if (!freeze) return undefined;
      const { errorCode: code = "", message, remediationMessage: remediation = "" } = frozenError(freeze);
      return { code, message, remediation };
    }),
  );
}

/** Ids of all domains of the inventory that have something to upgrade. */
function domainsOf({ inventory }: Pick<FreezeDependencies, "inventory">): readonly string[] {
  return [...new Set([...inventory.clusters, ...inventory.installations.netvirt].map(({ domain }) => domain))].sort();
}

function unknownDomains(
  deps: FreezeDependencies,
  domains: readonly string[],
  pathOf = (place: number) => `domains[${place}]`,
): Problem[] {
  const known = domainsOf(deps);
  return domains.flatMap((domain, place) =>
    known.includes(domain)
      ? []
      : [
          {
            path: pathOf(place),
            code: "DOMAIN_UNKNOWN",
            message: `The inventory has nothing to upgrade in domain ${domain}.`,
            remediation: `Give ids of domains: ${known.slice(0, 20).join(", ") || "there are none"}.`,
          },
        ],
  );
}

function pastEnd(until: string | undefined, now: number): Problem[] {
  if (until === undefined || toEpochMilliseconds(until) > now) return [];
  const message = `The end of the freeze, ${until}, has passed.`;
  return [{ path: "until", code: "SCHEDULE_IN_THE_PAST", message, remediation: "Give a time in the future, or none." }];
}
