import { DriverError } from "../drivers/driver-error";
import { ChangeRequest } from "./change-request";
import { mgmtFailure, NothingRuns } from "./mgmt-failure";
import type { MgmtStepContext } from "./mgmt-step";
import {
  brokenUpdate,
  isSameVersion,
  offeredVersion,
  readUpdateView,
  reasonsOfUpdate,
  type UpdateView,
} from "./mgmt-view";
import { percentOf, Standstill } from "./standstill";

/** Until the target is staged, or runs already. A staging is cancelled where the upgrade is; a staged update may stay. */
export async function stageUpdate(context: MgmtStepContext): Promise<void> {
  const { client, input, limits, progress, retryPolicy, stopping } = context;
  const { targetVersion: target, server } = input;
  const request = new ChangeRequest(context);
  const standstill = new Standstill(context.retryPolicy.clock);
  for (let round = 0; ; round++) {
    const view = await retryPolicy.retry(() => readUpdateView(client));
    if (isSameVersion(view.version, target)) return;
    const broken = brokenUpdate(server.name, view);
    if (broken) throw broken;
    const { update, staged } = view;
    const isTarget = staged !== undefined && isSameVersion(staged.version, target);

    if (update.state === "STAGE_IN_PROGRESS" && (isTarget || staged === undefined)) {
      const stood = standstill.look(update.state, update.task ?? {});
      if (stopping && !request.possible) throw new NothingRuns();
      if (stopping) {
        progress.note("Cancelled: ending the staging of the update.");
        await cancelStaging(context);
        request.waitAtMost("cancelling", limits.operationBusy, () => stalled(server.name, "cannot be cancelled", true));
      } else if (stood >= limits.mgmtStall) {
        await cancelStaging(context);
        throw stalled(server.name, "made no progress and was cancelled");
      } else progress.note(`Staging update ${target}.`, percentOf(update.task?.progress));
    } else if (update.state === "STAGE_IN_PROGRESS" || update.state === "INSTALL_IN_PROGRESS") {
      if (stopping) throw new NothingRuns();
      progress.note(`Waiting for another update of ${server.name} to end (${update.state}).`);
      request.waitAtMost("busy", limits.operationBusy, () => otherUpdate(server.name, update.state));
    } else if (isTarget && staged.staging_complete) {
      return;
    } else {
      throwWhereNotPossible(context, request, view);
      if (request.wasEndedByRestart(update.task) || request.hasLeftNoTrace()) {
        if (stopping) throw new NothingRuns();
        progress.note(`Asking for update ${target} to be staged.`);
        const offered = await offeredVersion(client, retryPolicy, target);
        await request.send(() => client.stageUpdate(offered), update.task?.start_time);
        if (progress.current.accepted) round = 0;
      }
    }
    await retryPolicy.pause(round);
  }
}

/** Nothing is in work: what stands in the way of a staging, or became of ours. */
function throwWhereNotPossible({ input }: MgmtStepContext, request: ChangeRequest, { update, staged }: UpdateView) {
  const { targetVersion: target, server } = input;
  const { task } = update;
  const failed = task?.status === "FAILED" && task.operation !== "install" && request.owns(task.start_time);
  if (failed && !request.wasEndedByRestart(task)) {
    const what = `Update ${target} could not be staged on management server ${server.name}`;
    throw mgmtFailure("MGMT_STAGING_FAILED", what, { causes: reasonsOfUpdate(update) });
  }
  if (staged?.staging_complete && !isSameVersion(staged.version, target))
    throw otherStaged(server.name, staged.version);
}

async function cancelStaging({ client, progress }: MgmtStepContext): Promise<void> {
  try {
    await client.cancelUpdate();
  } catch (error) {
    if (!(error instanceof DriverError)) throw error;
    // Whether it was cancelled, had ended or cannot be cancelled is seen at the next look.
    progress.note(error.message);
  }
}

function stalled(server: string, what: string, final = false) {
  const message = `The staging of the update on management server ${server} ${what}`;
  return mgmtFailure("MGMT_UPDATE_STALLED", message, { final });
}

/** Somebody else's update has not ended in time. */
export function otherUpdate(server: string, state: string): DriverError {
  return new DriverError({
    kind: "transient",
    code: "MGMT_BUSY",
    message: `Management server ${server} is at work on another update or migration, which does not end (${state}).`,
    remediation: "Wait for it to end, or cancel it in the management server, then retry the upgrade.",
  });
}

/** Another update was staged, which is not ours to throw away. */
export function otherStaged(server: string, version: string): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "MGMT_OTHER_UPDATE_STAGED",
    message: `Update ${version} is staged on management server ${server}, which is not the target.`,
    remediation: "Install or remove the staged update in the management server, then retry the upgrade.",
  });
}
