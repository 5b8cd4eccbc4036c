import * as E from "fp-ts/Either";
import { isNone } from "fp-ts/Option";
import { silenceError } from "../manager-silence";
import { type ClusterFacts, findMember, productsOf } from "../plan/facts";
import { findHost, type HostScope, hostScope, isInScope } from "../plan/host-scope";
import { netvirtInput, netvirtInScope } from "../plan/scope";
import type { ClusterMember } from "../spec/cluster";
import type { HostsSpec } from "../spec/upgrade-spec";
import { nearestName } from "../unknown-fields";
import {
  type AdmissionRequest,
  type AdmissionRule,
  badField,
  clustersOfRequest,
  type Rejection,
} from "./admission-rule";

/** Hosts that a request names are hosts of their cluster, each named once, and some are left to upgrade. */
export const hostsInScope: AdmissionRule = ({ spec, clusters, hosts }) =>
  spec.resourceUpgradeSpecs.flatMap((resource, i): readonly Rejection[] => {
    const lookup = clusters.get(resource.resourceId);
    if (!resource.hosts || lookup?._tag !== "Known") return [];
    const path = `resourceUpgradeSpecs[${i}].hosts`;
    const field = fieldOf(resource.hosts);
    if (field === undefined) return [oneOfTwo(path)];
    const read = hosts?.get(resource.resourceId);
    if (!read || E.isLeft(read)) return [unread(path, lookup.facts, read)];
    const named = resource.hosts[field] ?? [];
    const wrong = named.flatMap((_, n) => wrongName(named, n, `${path}.${field}[${n}]`, lookup.facts, read.right));
    return wrong.length > 0 ? wrong : noneLeft(`${path}.${field}`, resource.hosts, lookup.facts, read.right);
  });

/**
 * The upgrade coordinator upgrades whole groups of hosts. A cluster of which only some hosts are asked for is left out of
 * its NETVIRT upgrade, or not all that happens would be asked for.
 */
export const scopedHostsWithoutNetvirt: AdmissionRule = (request) => {
  const { spec, bundle, installations } = request;
  if (isNone(bundle) || !productsOf(bundle.value).includes("NETVIRT")) return [];
  const known = clustersOfRequest(request);
  const inScope = netvirtInScope(known, installations);
  return spec.resourceUpgradeSpecs.flatMap(({ resourceId, hosts }, i) => {
    const cluster = known.find((one) => one.resourceId === resourceId);
    if (!hosts || !cluster) return [];
    return netvirtInScope([cluster], installations).flatMap((instance) => {
      const input = netvirtInput(spec.netvirtUpgradeUserInputSpecs ?? [], instance, inScope) ?? {};
      const groups = input.netvirtHostClusterUpgradeSpecs;
      const names = (id = "") => findMember(instance, id)?.resourceId === resourceId;
      const upgradesHosts = groups === undefined || groups.some(({ hostClusterId }) => names(hostClusterId));
      if (!upgradesHosts || input.netvirtUpgradeOptions?.isEdgeOnlyUpgrade === true) return [];
      return [
        badField(
          `resourceUpgradeSpecs[${i}].hosts`,
          "HOSTS_NOT_FOR_NETVIRT",
          `NETVIRT ${instance.name} upgrades all hosts of cluster ${cluster.name}, not only some of them.`,
          "Leave the cluster out of netvirtHostClusterUpgradeSpecs, set isEdgeOnlyUpgrade, or leave hosts out.",
        ),
      ];
    });
  });
};

/** The hosts that a request is about, by resource id, of clusters of which it names some and whose hosts are known. */
export function hostScopesOf({ spec, hosts }: AdmissionRequest): ReadonlyMap<string, HostScope> {
  return new Map(
    spec.resourceUpgradeSpecs.flatMap(({ resourceId, hosts: named }) => {
      const read = hosts?.get(resourceId);
      return named && read && E.isRight(read) ? [[resourceId, hostScope(named, read.right)] as const] : [];
    }),
  );
}

function fieldOf({ include, exclude }: HostsSpec): "include" | "exclude" | undefined {
  if ((include === undefined) === (exclude === undefined)) return undefined;
  return include === undefined ? "exclude" : "include";
}

function oneOfTwo(path: string): Rejection {
  const message = `${path} needs either include or exclude.`;
  return badField(path, "HOSTS_AMBIGUOUS", message, "Give one of the two, or leave hosts out for all hosts.");
}

type HostsRead = NonNullable<AdmissionRequest["hosts"]> extends ReadonlyMap<string, infer R> ? R : never;

function unread(path: string, { name, componentManagerId }: ClusterFacts, read: HostsRead | undefined): Rejection {
  const silence = read && E.isLeft(read) ? read.left : undefined;
  const error = silence && silenceError(componentManagerId, silence, "send the request again");
  return {
    effect: "FAILED_DEPENDENCY",
    path,
    code: error?.errorCode ?? "COMPONENT_MANAGER_UNREACHABLE",
    message: `The hosts of cluster ${name} cannot be read. ${error?.message ?? ""}`.trim(),
    remediation: error?.remediationMessage ?? "Send the request again.",
  };
}

function wrongName(
  named: readonly string[],
  n: number,
  path: string,
  { name }: ClusterFacts,
  members: readonly ClusterMember[],
): Rejection[] {
  const text = named[n] ?? "";
  const host = findHost(members, text);
  if (!host) {
    const nearest = nearestName(
      text,
      members.flatMap(({ id, fqdn }) => [fqdn, id]),
    );
    const hint = nearest === undefined ? "" : `; the nearest known name is ${nearest}`;
    const remediation = "Name hosts by their id or name in `GET /v1/clusters/{id}`.";
    return [badField(path, "HOST_UNKNOWN", `Cluster ${name} has no host ${text}${hint}.`, remediation)];
  }
  const first = named.findIndex((other) => findHost(members, other)?.id === host.id);
  if (first === n) return [];
  return [badField(path, "RESOURCE_DUPLICATE", `Host ${host.fqdn} is named twice.`, "Name each host once.")];
}

function noneLeft(path: string, spec: HostsSpec, { name }: ClusterFacts, members: readonly ClusterMember[]) {
  const scope = hostScope(spec, members);
  if (members.some(({ id }) => isInScope(scope, id))) return [];
  const message = `${path} leaves no host of cluster ${name} to upgrade.`;
  return [badField(path, "HOSTS_NONE_LEFT", message, "Leave the cluster out of the request, or name fewer hosts.")];
}
