import * as E from "fp-ts/Either";
import { isSome } from "fp-ts/Option";
import type { Bundle } from "../bundle";
import type { ClusterFacts } from "../cluster-facts";
import type { Installations } from "../installations";
import type { RequestWarning } from "../request-warning";
import type { UpgradeSpec } from "../upgrade-spec";
import type { AdmissionRequest, AdmissionRule, Rejection } from "./admission-rule";
import { bundleAvailable } from "./bundle-available";
import { clusterSize } from "./cluster-size";
import { clustersKnown } from "./clusters-known";
import { fieldsFitClusterKind } from "./fields-fit-cluster-kind";
import { imagesKnown } from "./images-known";
import { inputsFitBundle } from "./inputs-fit-bundle";
import { mgmtInputsValid } from "./mgmt-inputs-valid";
import { netvirtInputsValid } from "./netvirt-inputs-valid";
import { parallelUpgradeOnly } from "./parallel-upgrade-only";
import { platformVersion } from "./platform-version";
import { powerActionConsistent } from "./power-action-consistent";
import { productsPresent } from "./products-present";
import { resourceTypeSupported } from "./resource-type-supported";
import { resourcesFree, warningsOfHolders } from "./resources-free";
import { resourcesUnique } from "./resources-unique";
import { scheduleAhead } from "./schedule-ahead";
import { clustersOfRequest } from "./server-inputs";
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
  readonly installations: Installations;
  /** What may stand in its way later. */
  readonly warnings?: readonly RequestWarning[];
}

/** Runs every rule and gives all rejections together, in the order of the rules, or what was admitted. */
export function admitUpgrade(request: AdmissionRequest): E.Either<readonly Rejection[], AdmittedUpgrade> {
  const rejections = rules.flatMap((rule) => rule(request));
  const clusters = clustersOfRequest(request);
  const warnings = warningsOfHolders(request);
  return rejections.length === 0 && isSome(request.bundle)
    ? E.right({
        spec: request.spec,
        bundle: request.bundle.value,
        clusters,
        installations: request.installations,
        ...(warnings.length > 0 && { warnings }),
      })
    : E.left(rejections);
}
