import type { ClusterFacts } from "../plan/facts";
import { scopeSize } from "../plan/host-scope";
import { rolloutAsked } from "../plan/rollout";
import type { RolloutSpec } from "../spec/upgrade-spec";
import { type AdmissionRule, perResource, type Rejection } from "./admission-rule";
import { hostScopesOf } from "./scope-rules";

type Limited = keyof RolloutSpec;

/** What a limit of the inventory bounds, in words, and on which side. */
const limits: Readonly<Record<Limited, { readonly bound: "at most" | "at least"; readonly unit: string }>> = {
  hostsAtOnce: { bound: "at most", unit: "hosts at once" },
  soakSeconds: { bound: "at least", unit: "seconds between hosts" },
  toleratedFailures: { bound: "at most", unit: "failed hosts" },
};

/** A request is as careful as the rollout policy of each cluster, or more so (docs/decisions/0007). */
export const rolloutWithinPolicy: AdmissionRule = (request) => {
  const scopes = hostScopesOf(request);
  return perResource(({ resourceId, rollout = {} }, path, { clusters }) => {
    const lookup = clusters.get(resourceId);
    if (lookup?._tag !== "Known") return [];
    const { facts } = lookup;
    const asked = rolloutAsked(rollout, scopeSize(scopes.get(resourceId), facts.hostCount));
    return (Object.keys(limits) as Limited[]).flatMap((field) =>
      isBeyond(field, asked[field], facts) ? [beyond(field, rollout[field], `${path}.rollout.${field}`, facts)] : [],
    );
  })(request);
};

function isBeyond(field: Limited, asked: number | undefined, { rollout }: ClusterFacts): boolean {
  if (asked === undefined) return false;
  return limits[field].bound === "at most" ? asked > rollout[field] : asked < rollout[field];
}

function beyond(field: Limited, asked: RolloutSpec[Limited], path: string, { name, rollout }: ClusterFacts): Rejection {
  const { bound, unit } = limits[field];
  const limit = `${bound} ${rollout[field]}`;
  return {
    effect: "NOT_ALLOWED",
    path,
    code: "ROLLOUT_BEYOND_POLICY",
    message: `The rollout policy of cluster ${name} wants ${limit} ${unit}; the request asks for ${asked ?? ""}.`,
    remediation: `Ask for ${limit}, or leave ${field} out; the limit is rollout.${field} of the cluster or its domain in the inventory.`,
  };
}
