import * as E from "fp-ts/Either";
import * as T from "fp-ts/Task";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import { silenceError } from "../domain/manager-silence";
import { findHost } from "../domain/plan/host-scope";
import { type ClusterUpgradePlan, clustersOf } from "../domain/plan/upgrade-plan";
import type { SkippedHost } from "../domain/requests/skip";
import type { ClusterMember } from "../domain/spec/cluster";
import type { SubTask, Task } from "../domain/spec/task";
import type { Upgrade } from "../domain/spec/upgrade";
import type { RetrySpec, SkipSpec } from "../domain/spec/upgrade-spec";
import { type ControlUpgradeDependencies, sendUpgradeRequest } from "./control-upgrade";
import type { Inventory, UpgradeExecutions } from "./ports";
import { badRequest, failedDependency, type ServiceError } from "./service-error";

export interface LeaveOutDependencies extends ControlUpgradeDependencies {
  readonly executions: Pick<UpgradeExecutions, "request" | "readUpgrade" | "readTask" | "readPlan">;
  readonly inventory: Pick<Inventory, "readHosts">;
}

/** Leaves a cluster, or a host of it, out of an upgrade; gives the Upgrade as it is then. */
export function skipPart(deps: LeaveOutDependencies) {
  return (id: string, spec: SkipSpec, caller: string): TE.TaskEither<ServiceError, Upgrade> => {
    const { resourceId, hostId, reason } = spec;
    const host =
      hostId === undefined
        ? TE.right<ServiceError, readonly SkippedHost[]>([])
        : findHosts(deps, id, [{ text: hostId, path: "hostId" }], resourceId);
    return pipe(
      host,
      TE.chain(([found]) =>
        sendUpgradeRequest(deps)(id, { name: "skip", ...(found ?? { resourceId }), reason }, caller),
      ),
      TE.chain(() => deps.executions.readUpgrade(id)),
    );
  };
}

/** Tries a failed upgrade again: all of it, some of it, or not some of it; gives the Upgrade as it is then. */
export function retryParts(deps: LeaveOutDependencies) {
  return (id: string, { skipHosts, ...spec }: RetrySpec, caller: string): TE.TaskEither<ServiceError, Upgrade> =>
    pipe(
      skipHosts
        ? findHosts(
            deps,
            id,
            skipHosts.map((text, i) => ({ text, path: `skipHosts[${i}]` })),
          )
        : TE.right<ServiceError, readonly SkippedHost[]>([]),
      TE.chain((hosts) =>
        sendUpgradeRequest(deps)(id, { name: "retry", ...spec, ...(skipHosts && { skipHosts: hosts }) }, caller),
      ),
      TE.chain(() => deps.executions.readUpgrade(id)),
    );
}

/** What a request calls a host: by its id or name. */
interface NamedHost {
  readonly text: string;
  readonly path: string;
}

interface HostsOfCluster {
  readonly resourceId: string;
  readonly hosts: readonly Pick<ClusterMember, "id" | "fqdn">[];
}

/**
 * The hosts that a request names, in its order: among those on the Task, else among those that component managers list for
 * clusters of which the Task has none. `resourceId`: of the only cluster that is meant. One that the upgrade does not have is
 * refused by the upgrade itself, so that nothing is found then.
 */
function findHosts(
  { executions, inventory }: Pick<LeaveOutDependencies, "executions" | "inventory">,
  id: string,
  named: readonly NamedHost[],
  resourceId?: string,
): TE.TaskEither<ServiceError, readonly SkippedHost[]> {
  const isMeant = (one: { readonly resourceId: string }) => resourceId === undefined || one.resourceId === resourceId;
  return pipe(
    executions.readTask(id),
    TE.map((task) => hostsOnTask(task).filter(isMeant)),
    TE.chain((known) =>
      named.every(({ text }) => matches(known, text).length > 0)
        ? TE.right(known)
        : pipe(
            executions.readPlan(id),
            TE.map((plan) => clustersOf(plan).filter(isMeant)),
            TE.map((all) => all.filter((one) => !known.some((other) => other.resourceId === one.resourceId))),
            TE.chain(TE.traverseArray(readHosts(inventory))),
            TE.map((read) => [...known, ...read]),
          ),
    ),
    TE.chain((all) => {
      if (resourceId !== undefined && all.length === 0) return TE.right<ServiceError, readonly SkippedHost[]>([]);
      const found = named.map((host) => oneOf(host, matches(all, host.text)));
      const problems = found.flatMap((one) => (E.isLeft(one) ? [one.left] : []));
      if (problems.length > 0) return TE.left(badRequest(problems));
      return TE.right(found.flatMap((one) => (E.isRight(one) ? [one.right] : [])));
    }),
  );
}

function readHosts(inventory: Pick<Inventory, "readHosts">) {
  return (cluster: ClusterUpgradePlan): TE.TaskEither<ServiceError, HostsOfCluster> =>
    pipe(
      inventory.readHosts(cluster),
      T.map(
        E.bimap(
          (silence) => {
            const error = silenceError(cluster.componentManagerId, silence, "send the request again");
            return failedDependency({
              code: error.errorCode,
              message: `The hosts of cluster ${cluster.name} cannot be read. ${error.message}`,
              remediation: error.remediationMessage,
            });
          },
          (hosts) => ({ resourceId: cluster.resourceId, hosts }),
        ),
      ),
    );
}

/** The clusters of a Task whose hosts it has. */
function hostsOnTask({ subTasks = [] }: Task): readonly HostsOfCluster[] {
  return subTasks
    .flatMap((product) => product.subTasks ?? [])
    .filter(({ type, subTasks: hosts = [] }) => type === "CLUSTER_UPGRADE" && hosts.length > 0)
    .map((cluster) => ({
      resourceId: cluster.resources?.[0]?.resourceId ?? "",
      hosts: (cluster.subTasks ?? []).map(memberOf),
    }));
}

function memberOf({ name, resources }: SubTask): Pick<ClusterMember, "id" | "fqdn"> {
  return { id: resources?.[0]?.resourceId ?? name, fqdn: name };
}

function matches(clusters: readonly HostsOfCluster[], text: string): readonly SkippedHost[] {
  return clusters.flatMap(({ resourceId, hosts }) => {
    const host = findHost(hosts, text);
    return host ? [{ resourceId, hostId: host.id, hostName: host.fqdn }] : [];
  });
}

function oneOf({ text, path }: NamedHost, [host, ...others]: readonly SkippedHost[]) {
  const known = "Name hosts by their id or name in `GET /v1/clusters/{id}`.";
  if (!host)
    return E.left({ path, code: "HOST_UNKNOWN", message: `The upgrade has no host ${text}.`, remediation: known });
  if (others.length === 0) return E.right(host);
  const message = `Several clusters of the upgrade have a host ${text}.`;
  return E.left({ path, code: "HOSTS_AMBIGUOUS", message, remediation: "Name the host by its name." });
}
