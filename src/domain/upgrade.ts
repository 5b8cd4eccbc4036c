import * as t from "io-ts";
import { Bundle } from "./bundle";
import { model, WholeNumber } from "./codec";
import { ErrorBody } from "./error-body";
import { PageMetadata } from "./page";
import { NetvirtUpgradeUserInputSpec, ResourceType, ResourceUpgradeSpec } from "./upgrade-spec";
import { UpgradeStatus } from "./upgrade-status";
import { WaitingFor } from "./waiting-for";

/** An upgrade as the list shows it (Spec 2.6). `endTime` is in epoch milliseconds. */
export const Upgrade = model(
  { id: t.string },
  {
    bundleId: t.string,
    resourceType: ResourceType,
    parallelUpgrade: t.boolean,
    resourceUpgradeSpecs: t.array(ResourceUpgradeSpec),
    status: UpgradeStatus,
    taskId: t.string,
    netvirtUpgradeUserInputSpec: NetvirtUpgradeUserInputSpec,
    bundle: Bundle,
    endTime: WholeNumber,
    /** What keeps it from beginning, where that is not only its time. */
    waitingFor: WaitingFor,
    /** Why the rest of it cannot be read. */
    errors: t.array(ErrorBody),
  },
);
export type Upgrade = t.TypeOf<typeof Upgrade>;

/** One page of the list of upgrades (Spec 2.7). */
export const PageOfUpgrade = model({}, { elements: t.array(Upgrade), pageMetadata: PageMetadata });
export type PageOfUpgrade = t.TypeOf<typeof PageOfUpgrade>;
