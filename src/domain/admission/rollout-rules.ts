import type { ClusterFacts } from "../plan/facts";
import { scopeSize } from "../plan/host-scope";
import { rolloutAsked } from "../plan/rollout";
import type { RolloutSpec } from "../spec/upgrade-spec";
import { type AdmissionRule, perCluster, type Rejection } from "./admission-rule";
import { hostScopesOf } from "./scope-rules";

type Limited = keyof RolloutSpec;

const bounds: Readonly<Record<Limited, "at most" | "at least">> = {
  hostsAtOnce: "at most",
  soakSeconds: "at least",
  toleratedFailures: "at most",
};

/** A request is as careful as the rollout policy of each cluster, or more so (docs/decisions/0007). */
export const rolloutWithinPolicy: AdmissionRule = (request) => {
  const scopes = hostScopesOf(request);
  return perCluster((facts, { resourceId, rollout = {} }, path) => {
    const asked = rolloutAsked(rollout, scopeSize(scopes.get(resourceId), facts.hostCount));
    return (Object.keys(bounds) as Limited[]).flatMap((field) =>
      isBeyond(field, asked[field], facts) ? [beyond(field, rollout[field], `${path}.rollout.${field}`, facts)] : [],
    );
  })(request);
};

function isBeyond(field: Limited, asked: number | undefined, { rollout }: ClusterFacts): boolean {
  if (asked === undefined) return false;
  return bounds[field] === "at most" ? asked > rollout[field] : asked < rollout[field];
}

function beyond(field: Limited, asked: RolloutSpec[Limited], path: string, { name, rollout }: ClusterFacts): Rejection {
  const limit = `${bounds[field]} ${rollout[field]}`;
  return {
    effect: "NOT_ALLOWED",
    path,
    code: "ROLLOUT_BEYOND_POLICY",
    message: `The rollout policy of cluster ${name} limits ${field} to ${limit}; the request asks for ${asked ?? ""}.`,
    remediation: `Ask for ${limit}, or leave ${field} out; the limit is rollout.${field} of the cluster or its domain in the inventory.`,
  };
}
