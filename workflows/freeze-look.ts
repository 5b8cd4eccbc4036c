import { proxyActivities } from "@temporalio/workflow";
import type { FreezeFound, FreezeLook, UpgradeActivities } from "../activities/contract";
import type { ErrorBody } from "../src/domain/errors";
import { freezeOptions } from "./activity-options";

const looks = proxyActivities<Pick<UpgradeActivities, "lookAtFreeze">>(freezeOptions());

/** Why nothing may begin that belongs to these places. With `known` it waits until that is another reason, or none. */
export async function lookAtFreeze(look: FreezeLook): Promise<ErrorBody | undefined> {
  return (await lookAtClosure(look)).error;
}

/** The same with the clusters that are held, where others among these places may begin, and the end of what is open. */
export function lookAtClosure(look: FreezeLook): Promise<FreezeFound> {
  const summary = look.known === undefined ? "may it begin?" : "until it may begin";
  return looks.lookAtFreeze.executeWithOptions({ ...freezeOptions(), summary }, [look]);
}
