import { proxyActivities } from "@temporalio/workflow";
import type { FreezeLook, UpgradeActivities } from "../activities/contract";
import type { ErrorBody } from "../src/domain/errors";
import { freezeOptions } from "./activity-options";

const looks = proxyActivities<Pick<UpgradeActivities, "lookAtFreeze">>(freezeOptions());

/** Why nothing may begin that belongs to these places. With `known` it waits until that is another reason, or none. */
export async function lookAtFreeze(look: FreezeLook): Promise<ErrorBody | undefined> {
  const summary = look.known === undefined ? "may it begin?" : "until it may begin";
  const { error } = await looks.lookAtFreeze.executeWithOptions({ ...freezeOptions(), summary }, [look]);
  return error;
}
