import * as E from "fp-ts/Either";
import { isSome } from "fp-ts/Option";
import type { ClusterFacts, Installations } from "../plan/facts";
import type { HostScope } from "../plan/host-scope";
import type { Bundle } from "../spec/bundle";
import type { RequestWarning } from "../spec/request-warning";
import type { UpgradeSpec } from "../spec/upgrade-spec";
import { type AdmissionRequest, type AdmissionRule, clustersOfRequest, type Rejection } from "./admission-rule";
import {
  bundleAvailable,
  imagesKnown,
  inputsFitBundle,
  platformVersion,
  productsPresent,
  targetVersionOffered,
} from "./bundle-rules";
import {
  clusterSize,
  clustersKnown,
  fieldsFitClusterKind,
  overrideExplained,
  parallelUpgradeOnly,
  powerActionConsistent,
  resourcesUnique,
  resourceTypeSupported,
  scheduleAhead,
} from "./cluster-rules";
import { resourcesFree, warningsOfHolders } from "./lock-rules";
import { rolloutWithinPolicy } from "./rollout-rules";
import { hostScopesOf, hostsInScope, scopedHostsWithoutNetvirt } from "./scope-rules";
import { mgmtInputsValid, netvirtInputsValid } from "./server-rules";

const rules: readonly AdmissionRule[] = [
  resourceTypeSupported,
  parallelUpgradeOnly,
  resourcesUnique,
  clustersKnown,
  fieldsFitClusterKind,
  imagesKnown,
  powerActionConsistent,
  scheduleAhead,
  overrideExplained,
  targetVersionOffered,
  platformVersion,
  hostsInScope,
  scopedHostsWithoutNetvirt,
  rolloutWithinPolicy,
  netvirtInputsValid,
  mgmtInputsValid,
  inputsFitBundle,
  productsPresent,
  clusterSize,
  resourcesFree,
  bundleAvailable,
];

/** A request that every rule let through, with the facts that it was judged by. */
export interface AdmittedUpgrade {
  readonly spec: UpgradeSpec;
  readonly bundle: Bundle;
  /** In the order of the request's resources. */
  readonly clusters: readonly ClusterFacts[];
  /** The hosts that the request is about, by resource id, of clusters of which it is not about all. */
  readonly hostScopes?: ReadonlyMap<string, HostScope>;
  readonly installations: Installations;
  /** What may stand in its way later. */
  readonly warnings?: readonly RequestWarning[];
}

/** Runs every rule and gives all rejections together, in the order of the rules, or what was admitted. */
export function admitUpgrade(request: AdmissionRequest): E.Either<readonly Rejection[], AdmittedUpgrade> {
  const rejections = rules.flatMap((rule) => rule(request));
  const clusters = clustersOfRequest(request);
  const warnings = warningsOfHolders(request);
  const hostScopes = hostScopesOf(request);
  return rejections.length === 0 && isSome(request.bundle)
    ? E.right({
        spec: request.spec,
        bundle: request.bundle.value,
        clusters,
        ...(hostScopes.size > 0 && { hostScopes }),
        installations: request.installations,
        ...(warnings.length > 0 && { warnings }),
      })
    : E.left(rejections);
}
