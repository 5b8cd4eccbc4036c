import * as t from "io-ts";
import { ResourceId, ListOf, model } from "./codec";
import { Timestamp } from "./timestamp";

/** The new time of one management server's switchover. */
export const MgmtUpgradePatchSpec = model({ resourceId: ResourceId, startSwitchoverTimestamp: Timestamp }, {});
export type MgmtUpgradePatchSpec = t.TypeOf<typeof MgmtUpgradePatchSpec>;

/** The new times of switchovers; an empty list would say nothing, and so be a commit that nobody meant. */
export const MgmtUpgradePatchSpecs = ListOf(MgmtUpgradePatchSpec, { min: 1, max: 256 });

/**
 * What a client asks of an upgrade that has been accepted: the body of `PATCH /v1/upgrades/{id}`. Without a field it is
 * a plain commit; a time commits with it or reschedules; `mgmtUpgradePatchSpecs` alone changes times of switchovers and
 * commits nothing; `markForCancellation` cancels.
 */
export const UpgradeUpdateSpec = model(
  {},
  {
    scheduledTimestamp: Timestamp,
    upgradeNow: t.boolean,
    mgmtUpgradePatchSpecs: MgmtUpgradePatchSpecs,
    markForCancellation: t.boolean,
  },
);
export type UpgradeUpdateSpec = t.TypeOf<typeof UpgradeUpdateSpec>;

/** What counts of such a body: with `markForCancellation` true nothing else, so that a client can send its whole form. */
export function partThatCounts(body: unknown): unknown {
  const cancels =
    typeof body === "object" && body !== null && "markForCancellation" in body && body.markForCancellation === true;
  return cancels ? { markForCancellation: true } : body;
}
