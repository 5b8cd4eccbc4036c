import { textsOf } from "../drivers/vapi/vapi-models";
import { Absence } from "./absence";
import { ChangeRequest } from "./change-request";
import { mgmtFailure, NothingRuns } from "./mgmt-failure";
import type { MgmtStepContext } from "./mgmt-step";
import { brokenUpdate, isSameVersion, readUpdateView, reasonsOfUpdate, type UpdateView } from "./mgmt-view";
import { otherUpdate } from "./stage-update";
import { percentOf, Standstill } from "./standstill";
import { answersTo, errorOfFinding, findingsOfUpdate } from "./update-questions";

/**
 * Until the appliance is back and runs the target. An installation that has begun cannot be stopped: it is brought to
 * its end also where the upgrade is cancelled.
 */
export async function installUpdate(context: MgmtStepContext): Promise<{ version: string }> {
  const { client, input, limits, progress, retryPolicy, stopping } = context;
  const { targetVersion: target, server } = input;
  const request = new ChangeRequest(context);
  const standstill = new Standstill(context.retryPolicy.clock);
  const absence = new Absence(context);
  let running = false;
  const note = (what: string, percent?: number) =>
    progress.note(stopping ? `Cancelled, but an installation is brought to its end: ${what}` : what, percent);

  for (let round = 0; ; round++) {
    const view =
      running || request.possible
        ? await absence.read(() => readUpdateView(client))
        : await retryPolicy.retry(() => readUpdateView(client));
    if (!view) {
      standstill.blind();
      await retryPolicy.pause(round);
      continue;
    }
    const broken = brokenUpdate(server.name, view);
    if (broken) throw broken;
    const { update, version } = view;

    const ours = running || request.possible;
    if (update.state === "INSTALL_IN_PROGRESS" && ours) {
      running = true;
      if (standstill.look(update.state, update.task ?? {}) >= limits.mgmtStall) throw stalled(server.name);
      note(`Installing update ${target}.`, percentOf(update.task?.progress));
    } else if (isSameVersion(version, target) && update.state !== "INSTALL_IN_PROGRESS") {
      return { version };
    } else if (update.state === "STAGE_IN_PROGRESS" || update.state === "INSTALL_IN_PROGRESS") {
      if (stopping) throw new NothingRuns();
      note(`Waiting for another update of ${server.name} to end (${update.state}).`);
      request.waitAtMost("busy", limits.operationBusy, () => otherUpdate(server.name, update.state));
    } else {
      throwWhereFailed(context, request, view, running);
      if (request.hasLeftNoTrace()) {
        if (stopping) throw new NothingRuns();
        await install(context, request, view);
        if (progress.current.accepted) round = 0;
      }
    }
    await retryPolicy.pause(round);
  }
}

/** Nothing is in work and the version is the old one: what became of our installation, if there was one. */
function throwWhereFailed(
  { input }: MgmtStepContext,
  request: ChangeRequest,
  { update, version }: UpdateView,
  ran: boolean,
) {
  const { targetVersion: target, server } = input;
  const { task } = update;
  const failed = task?.status === "FAILED" && task.operation !== "stage" && request.owns(task.start_time);
  if (!failed && !ran) return;
  const causes = reasonsOfUpdate(update);
  // It was seen running, or says itself that it failed, and the old version is back.
  const what = `Update ${target} was not installed on management server ${server.name}, which runs ${version}`;
  throw mgmtFailure("MGMT_INSTALL_ROLLED_BACK", what, { causes });
}

async function install(
  context: MgmtStepContext,
  request: ChangeRequest,
  { update, staged }: UpdateView,
): Promise<void> {
  const { client, input, settings, progress, retryPolicy } = context;
  const { targetVersion: target, server } = input;
  if (!staged?.staging_complete || !isSameVersion(staged.version, target)) {
    throw mgmtFailure(
      "MGMT_CHANGE_LOST",
      `Update ${target} is not staged on management server ${server.name} any more`,
    );
  }
  progress.note("Checking the update once more.");
  const precheck = await retryPolicy.retry(() => client.precheckUpdate(staged.version));
  const [finding] = findingsOfUpdate(server.name, precheck, settings);
  if (finding) throw errorOfFinding(finding);
  const answers = answersTo(precheck, settings);
  const [wrong] = textsOf((await retryPolicy.retry(() => client.validateUpdate(staged.version, answers))).errors);
  if (wrong !== undefined) {
    throw errorOfFinding({
      code: "MGMT_UPDATE_NOT_POSSIBLE",
      message: `Management server ${server.name} does not take the answers for update ${target}: ${wrong}`,
      remediation: "Correct the answers of this management server in the inventory, then retry the upgrade.",
    });
  }
  progress.note(`Asking for update ${target} to be installed.`);
  await request.send(() => client.installUpdate(staged.version, answers), update.task?.start_time);
}

function stalled(server: string) {
  return mgmtFailure(
    "MGMT_UPDATE_STALLED",
    `The installation on management server ${server} makes no progress; it cannot be cancelled and may still go on`,
    { final: true },
  );
}
