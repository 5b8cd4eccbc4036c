import * as E from "fp-ts/Either";
import { isSome } from "fp-ts/Option";
import type { Bundle } from "../bundle";
import type { ClusterFacts } from "../cluster-facts";
import type { UpgradeSpec } from "../upgrade-spec";
import type { AdmissionRequest, AdmissionRule, Rejection } from "./admission-rule";
import { bundleAvailable } from "./bundle-available";
import { clusterFree } from "./cluster-free";
import { clusterKindSupported } from "./cluster-kind-supported";
import { clusterSize } from "./cluster-size";
import { clustersKnown } from "./clusters-known";
import { fieldsFitClusterKind } from "./fields-fit-cluster-kind";
import { imagesKnown } from "./images-known";
import { parallelUpgradeOnly } from "./parallel-upgrade-only";
import { platformVersion } from "./platform-version";
import { powerActionConsistent } from "./power-action-consistent";
import { productsSupported } from "./products-supported";
import { resourceTypeSupported } from "./resource-type-supported";
import { resourcesUnique } from "./resources-unique";
import { scheduleAhead } from "./schedule-ahead";
import { targetVersionOffered } from "./target-version-offered";

const rules: readonly AdmissionRule[] = [
  resourceTypeSupported,
  parallelUpgradeOnly,
  resourcesUnique,
  clustersKnown,
  fieldsFitClusterKind,
  imagesKnown,
  powerActionConsistent,
  scheduleAhead,
  targetVersionOffered,
  platformVersion,
  clusterKindSupported,
  clusterSize,
  clusterFree,
  productsSupported,
  bundleAvailable,
];

/** A request that every rule let through, with the facts that it was judged by. */
export interface AdmittedUpgrade {
  readonly spec: UpgradeSpec;
  readonly bundle: Bundle;
  /** In the order of the request's resources. */
  readonly clusters: readonly ClusterFacts[];
}

/** Runs every rule and gives all rejections together, in the order of the rules, or what was admitted. */
export function admitUpgrade(request: AdmissionRequest): E.Either<readonly Rejection[], AdmittedUpgrade> {
  const rejections = rules.flatMap((rule) => rule(request));
  const clusters = request.spec.resourceUpgradeSpecs.flatMap(({ resourceId }) => {
    const lookup = request.clusters.get(resourceId);
    return lookup?._tag === "Known" ? [lookup.facts] : [];
  });
  return rejections.length === 0 && isSome(request.bundle)
    ? E.right({ spec: request.spec, bundle: request.bundle.value, clusters })
    : E.left(rejections);
}
