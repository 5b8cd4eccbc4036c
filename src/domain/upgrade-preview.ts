import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "./codec";
import { ErrorBody } from "./error-body";
import { ExpectedWave, expectedWaves, type KnownHosts } from "./expected-waves";
import { RequestWarning } from "./request-warning";
import { rolloutOf } from "./rollout";
import { Timestamp } from "./timestamp";
import { isCluster, type ResourcePlan, type UpgradePlan } from "./upgrade-plan";
import { HostosUpgradeOptionsSpec } from "./upgrade-spec";

/**
 * What would be done to one resource. `retryDelay` and `soakSeconds` are in seconds; without `scheduledTimestamp` it
 * begins at once. The rollout policy of a cluster (docs/decisions/0007) is the one that it would really be upgraded by.
 * `errors` tells why its hosts are not known, and so not in the waves.
 */
export const PreviewedResource = model(
  {
    resourceId: t.string,
    name: t.string,
    kind: OneOf("IMAGE", "BASELINE", "NETVIRT", "MGMT"),
    targetVersion: t.string,
    maximumAttempts: WholeNumber,
    retryDelay: WholeNumber,
  },
  {
    scheduledTimestamp: Timestamp,
    upgradeMechanism: OneOf("InPlace", "ReducedDowntimeMigration"),
    startSwitchoverTimestamp: Timestamp,
    hostsAtOnce: WholeNumber,
    soakSeconds: WholeNumber,
    healthGate: t.boolean,
    toleratedFailures: WholeNumber,
    errors: t.array(ErrorBody),
    hostosUpgradeOptionsSpec: HostosUpgradeOptionsSpec,
  },
);
export type PreviewedResource = t.TypeOf<typeof PreviewedResource>;

/** One product of an upgrade; its resources are upgraded in parallel. */
export const PreviewedProduct = model(
  { product: OneOf("NETVIRT", "MGMT", "HOSTOS"), resources: t.array(PreviewedResource) },
  {},
);

/** What an upgrade would do, in the order in which it would: the answer of `POST /v1/upgrades/preview`. */
export const UpgradePreview = model(
  {
    name: t.string,
    bundleId: t.string,
    draftMode: t.boolean,
    products: t.array(PreviewedProduct),
    waves: t.array(ExpectedWave),
  },
  {
    bundleVersion: t.string,
    /** What of the request has no effect. */
    warnings: t.array(RequestWarning),
  },
);
export type UpgradePreview = t.TypeOf<typeof UpgradePreview>;

/** What is known of the hosts of clusters, and why those of others are not; both by resource id. */
export interface HostsForPreview {
  readonly hosts: KnownHosts;
  readonly errors: ReadonlyMap<string, ErrorBody>;
}

/** The part of a plan that tells a user what would happen; where things are reached stays inside. */
export function previewOf(
  { name, bundle, draft, products, warnings }: UpgradePlan,
  { hosts, errors }: HostsForPreview,
): UpgradePreview {
  return {
    name,
    bundleId: bundle.id,
    draftMode: draft,
    products: products.map(({ product, resources }) => ({
      product,
      resources: resources.map((resource) => previewedResource(resource, errors.get(resource.resourceId))),
    })),
    waves: expectedWaves(products, hosts),
    ...(bundle.version !== undefined && { bundleVersion: bundle.version }),
    ...(warnings && { warnings: [...warnings] }),
  };
}

function previewedResource(resource: ResourcePlan, error: ErrorBody | undefined): PreviewedResource {
  const { resourceId, name, kind, targetVersion, attempts, scheduledTimestamp } = resource;
  return {
    resourceId,
    name,
    kind,
    targetVersion,
    ...attempts,
    ...(scheduledTimestamp !== undefined && { scheduledTimestamp }),
    ...(isCluster(resource) && {
      hostosUpgradeOptionsSpec: resource.options,
      ...rolloutOf(resource),
    }),
    ...(error && { errors: [error] }),
    ...(resource.kind === "MGMT" && {
      upgradeMechanism: resource.mechanism,
      ...(resource.startSwitchoverTimestamp !== undefined && {
        startSwitchoverTimestamp: resource.startSwitchoverTimestamp,
      }),
    }),
  };
}
