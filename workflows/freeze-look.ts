import { proxyActivities } from "@temporalio/workflow";
import type { FreezeFound, FreezeLook, UpgradeActivities } from "../activities/contract";
import { freezeOptions } from "./activity-options";

const looks = proxyActivities<Pick<UpgradeActivities, "lookAtFreeze">>(freezeOptions());

/**
 * Why nothing may begin that belongs to these places, with the clusters that are held where others may, or until when what is
 * open stays so. With `known` it waits until the reason is another one, or none.
 */
export function lookAtClosure(look: FreezeLook): Promise<FreezeFound> {
  const summary = look.known === undefined ? "may it begin?" : "until it may begin";
  return looks.lookAtFreeze.executeWithOptions({ ...freezeOptions(), summary }, [look]);
}
