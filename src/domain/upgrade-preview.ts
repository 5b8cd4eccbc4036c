import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "./codec";
import { rolloutOf } from "./rollout";
import { Timestamp } from "./timestamp";
import { isCluster, type ResourcePlan, type UpgradePlan } from "./upgrade-plan";
import { HostosUpgradeOptionsSpec } from "./upgrade-spec";

/** What would be done to one resource. `retryDelay` is in seconds; without `scheduledTimestamp` it begins at once. */
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
  { name: t.string, bundleId: t.string, draftMode: t.boolean, products: t.array(PreviewedProduct) },
  { bundleVersion: t.string },
);
export type UpgradePreview = t.TypeOf<typeof UpgradePreview>;

/** The part of a plan that tells a user what would happen; where things are reached stays inside. */
export function previewOf({ name, bundle, draft, products }: UpgradePlan): UpgradePreview {
  return {
    name,
    bundleId: bundle.id,
    draftMode: draft,
    products: products.map(({ product, resources }) => ({ product, resources: resources.map(previewedResource) })),
    ...(bundle.version !== undefined && { bundleVersion: bundle.version }),
  };
}

function previewedResource(resource: ResourcePlan): PreviewedResource {
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
      hostsAtOnce: rolloutOf(resource).hostsAtOnce,
    }),
    ...(resource.kind === "MGMT" && {
      upgradeMechanism: resource.mechanism,
      ...(resource.startSwitchoverTimestamp !== undefined && {
        startSwitchoverTimestamp: resource.startSwitchoverTimestamp,
      }),
    }),
  };
}
