import { proxyActivities } from "@temporalio/workflow";
import type { ClosureFound, ClosureLook, UpgradeActivities } from "../activities/contract";
import { closureLookOptions } from "./activity-options";

const looks = proxyActivities<Pick<UpgradeActivities, "lookAtClosure">>(closureLookOptions());

/**
 * Why nothing may begin that belongs to these places, with the clusters that are held where others may, or until when what is
 * open stays so. With `known` it waits until the reason is another one, or none.
 */
export function lookAtClosure(look: ClosureLook): Promise<ClosureFound> {
  const summary = look.known === undefined ? "may it begin?" : "until it may begin";
  return looks.lookAtClosure.executeWithOptions({ ...closureLookOptions(), summary }, [look]);
}
