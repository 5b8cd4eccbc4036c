import type { ClusterMember } from "../spec/cluster";
import type { HostsSpec } from "../spec/upgrade-spec";

/** Which hosts of a cluster an upgrade is about, by the ids of its component manager; one of the two. Absent means all. */
export interface HostScope {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/** Whether a host belongs to a scope. One that joins its cluster later does where hosts are only excluded. */
export function isInScope(scope: HostScope | undefined, host: string): boolean {
  if (scope?.include) return scope.include.includes(host);
  return !scope?.exclude?.includes(host);
}

/** How many hosts of a cluster belong to a scope, as far as its size tells. */
export function scopeSize(scope: HostScope | undefined, hostCount: number): number {
  return scope?.include?.length ?? hostCount - (scope?.exclude?.length ?? 0);
}

/** The host that a client means: by its id, or by its name in whatever case. */
export function findHost<M extends Pick<ClusterMember, "id" | "fqdn">>(
  members: readonly M[],
  text: string,
): M | undefined {
  const name = text.toLowerCase();
  return members.find(({ id }) => id === text) ?? members.find(({ fqdn }) => fqdn.toLowerCase() === name);
}

/** What a request says of hosts, by their ids; admission has made sure that each is known. */
export function hostScope(spec: HostsSpec, members: readonly ClusterMember[]): HostScope {
  const ids = (texts: readonly string[]) => texts.map((text) => findHost(members, text)?.id ?? text);
  return spec.include ? { include: ids(spec.include) } : { exclude: ids(spec.exclude ?? []) };
}
