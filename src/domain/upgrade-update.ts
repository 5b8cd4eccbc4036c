import * as t from "io-ts";
import { model } from "./codec";
import { Timestamp } from "./timestamp";

/**
 * What a client asks of an upgrade that has been accepted: the body of `PATCH /v1/upgrades/{id}`. Without a field it is
 * a plain commit; a time commits with it or reschedules; `markForCancellation` cancels.
 */
export const UpgradeUpdateSpec = model(
  {},
  { scheduledTimestamp: Timestamp, upgradeNow: t.boolean, markForCancellation: t.boolean },
);
export type UpgradeUpdateSpec = t.TypeOf<typeof UpgradeUpdateSpec>;
