import type { ManagementServerSettings } from "../activity-dependencies";
import { CancelledBeforeStart } from "../activity-run";
import { DriverError } from "../drivers/driver-error";
import { percentOf, textsOf } from "../drivers/vapi/vapi-models";
import type { Answers } from "../drivers/vcsa/vcsa-client";
import type { UpdatePrecheck } from "../drivers/vcsa/vcsa-models";
import type { Finding } from "../prechecks/run-checks";
import { StallTimer } from "../stall-timer";
import { ChangeRequest } from "./change-request";
import { mgmtFailure } from "./mgmt-failure";
import type { MgmtStepContext } from "./mgmt-step";
import {
  brokenUpdate,
  isSameVersion,
  movingParts,
  offeredVersion,
  readUpdateView,
  reasonsOfUpdate,
  type UpdateView,
} from "./mgmt-view";
import { UnstoppableChange } from "./unstoppable-change";

/** Until the target is staged, or runs already. A staging is cancelled where the upgrade is; a staged update may stay. */
export async function stageUpdate(context: MgmtStepContext): Promise<void> {
  const { client, input, limits, progress, retryPolicy, stopping } = context;
  const { targetVersion: target, server } = input;
  const request = new ChangeRequest(context);
  const stallTimer = new StallTimer(retryPolicy.clock);
  for (let round = 0; ; round++) {
    const view = await retryPolicy.retry(() => readUpdateView(client));
    if (isSameVersion(view.version, target)) return;
    const broken = brokenUpdate(server.name, view);
    if (broken) throw broken;
    const { update, staged } = view;
    const isTarget = staged !== undefined && isSameVersion(staged.version, target);

    if (update.state === "STAGE_IN_PROGRESS" && (isTarget || staged === undefined)) {
      stallTimer.look(movingParts(update.state, update.task ?? {}));
      if (stopping && !request.possible) throw new CancelledBeforeStart();
      if (stopping) {
        progress.note("Cancelled: ending the staging of the update.");
        await cancelStaging(context);
        request.waitAtMost("cancelling", limits.operationBusy, () =>
          stagingStalled(server.name, "cannot be cancelled", true),
        );
      } else if (stallTimer.stalledFor >= limits.mgmtStall) {
        await cancelStaging(context);
        throw stagingStalled(server.name, "made no progress and was cancelled");
      } else progress.note(`Staging update ${target}.`, percentOf(update.task?.progress));
    } else if (update.state === "STAGE_IN_PROGRESS" || update.state === "INSTALL_IN_PROGRESS") {
      if (stopping) throw new CancelledBeforeStart();
      progress.note(`Waiting for another update of ${server.name} to end (${update.state}).`);
      request.waitAtMost("busy", limits.operationBusy, () => otherUpdate(server.name, update.state));
    } else if (isTarget && staged.staging_complete) {
      return;
    } else {
      throwWhereNotPossible(context, request, view);
      if (request.wasEndedByRestart(update.task) || request.hasLeftNoTrace()) {
        if (stopping) throw new CancelledBeforeStart();
        progress.note(`Requesting the staging of update ${target}.`);
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

function stagingStalled(server: string, what: string, final = false) {
  const message = `The staging of the update on management server ${server} ${what}`;
  return mgmtFailure("MGMT_UPDATE_STALLED", message, { final });
}

/** Somebody else's update has not ended in time. */
export function otherUpdate(server: string, state: string): DriverError {
  return new DriverError({
    kind: "transient",
    code: "MGMT_BUSY",
    message: `Management server ${server} is busy with another update or migration that does not end (${state}).`,
    remediation: "Wait for it to end, or cancel it in the management server, then retry the upgrade.",
  });
}

/** Another update was staged, which is not ours to throw away. */
export function otherStaged(server: string, version: string): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "MGMT_OTHER_UPDATE_STAGED",
    message: `Update ${version} is staged on management server ${server}, but it is not the target.`,
    remediation: "Install or remove the staged update in the management server, then retry the upgrade.",
  });
}

/**
 * Until the appliance is back and runs the target. An installation that has begun cannot be stopped: it is brought to
 * its end also where the upgrade is cancelled.
 */
export async function installUpdate(context: MgmtStepContext): Promise<{ version: string }> {
  const { client, input, limits, progress, retryPolicy, stopping } = context;
  const { targetVersion: target, server } = input;
  const change = new UnstoppableChange(context, "an installation");
  const { request } = change;

  for (let round = 0; ; round++) {
    const view = await change.read(() => readUpdateView(client));
    if (!view) {
      await retryPolicy.pause(round);
      continue;
    }
    const broken = brokenUpdate(server.name, view);
    if (broken) throw broken;
    const { update, version } = view;

    if (update.state === "INSTALL_IN_PROGRESS" && change.mayBeOurs) {
      if (change.hasStalled(update.state, update.task ?? {})) throw installationStalled(server.name);
      change.note(`Installing update ${target}.`, percentOf(update.task?.progress));
    } else if (isSameVersion(version, target) && update.state !== "INSTALL_IN_PROGRESS") {
      return { version };
    } else if (update.state === "STAGE_IN_PROGRESS" || update.state === "INSTALL_IN_PROGRESS") {
      if (stopping) throw new CancelledBeforeStart();
      change.note(`Waiting for another update of ${server.name} to end (${update.state}).`);
      request.waitAtMost("busy", limits.operationBusy, () => otherUpdate(server.name, update.state));
    } else {
      // An installation that has changed something goes on, fails for good or is rolled back, and leaves nothing staged.
      const isNotBegun = request.wasEndedByRestart(update.task) && isStaged(view, target);
      if (!isNotBegun) throwWhereFailed(context, request, view, change.wasSeen);
      if (isNotBegun || request.hasLeftNoTrace()) {
        if (stopping) throw new CancelledBeforeStart();
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

async function install(context: MgmtStepContext, request: ChangeRequest, view: UpdateView): Promise<void> {
  const { client, input, settings, progress, retryPolicy } = context;
  const { targetVersion: target, server } = input;
  const { update, staged } = view;
  if (!staged || !isStaged(view, target)) {
    throw mgmtFailure("MGMT_CHANGE_LOST", `Update ${target} is no longer staged on management server ${server.name}`);
  }
  progress.note("Checking the update again.");
  const precheck = await retryPolicy.retry(() => client.precheckUpdate(staged.version));
  const [finding] = findingsOfUpdate(server.name, precheck, settings);
  if (finding) throw errorOfFinding(finding);
  const answers = answersTo(precheck, settings);
  const [wrong] = textsOf((await retryPolicy.retry(() => client.validateUpdate(staged.version, answers))).errors);
  if (wrong !== undefined) {
    throw errorOfFinding({
      code: "MGMT_UPDATE_NOT_POSSIBLE",
      message: `Management server ${server.name} rejected the answers for update ${target}: ${wrong}`,
      remediation: "Correct the answers of this management server in the inventory, then retry the upgrade.",
    });
  }
  progress.note(`Requesting the installation of update ${target}.`);
  await request.send(() => client.installUpdate(staged.version, answers), update.task?.start_time);
}

/** Whether the target waits to be installed. */
function isStaged({ staged }: UpdateView, target: string): boolean {
  return staged?.staging_complete === true && isSameVersion(staged.version, target);
}

function installationStalled(server: string) {
  return mgmtFailure(
    "MGMT_UPDATE_STALLED",
    `The installation on management server ${server} makes no progress; it cannot be cancelled and may still continue`,
    { final: true },
  );
}

/** The answers that an installation wants: from the inventory, else the product's own defaults. */
function answersTo({ questions }: UpdatePrecheck, { answers }: ManagementServerSettings): Answers {
  return Object.fromEntries(
    questions.flatMap(({ data_item, default_answer }) => {
      const answer = answers[data_item] ?? default_answer;
      return answer === undefined ? [] : [[data_item, answer]];
    }),
  );
}

/** What a check of an update finds: the product's own errors, and questions that nobody has answered. */
export function findingsOfUpdate(
  server: string,
  precheck: UpdatePrecheck,
  settings: ManagementServerSettings,
): Finding[] {
  const answers = answersTo(precheck, settings);
  return [
    ...textsOf(precheck.issues?.errors).map((text) => ({
      code: "MGMT_UPDATE_NOT_POSSIBLE",
      message: `The management server's check of the update: ${text}`,
      remediation: "Resolve what the check reports, then try again.",
    })),
    ...precheck.questions
      .filter(({ data_item }) => answers[data_item] === undefined)
      .map(({ data_item, text }) => ({
        code: "MGMT_QUESTION_UNANSWERED",
        message: `The update of ${server} asks for ${data_item}: ${text.default_message}`,
        remediation: `Set the answer to ${data_item} of this management server in the inventory, then try again.`,
        context: { dataItem: data_item },
      })),
  ];
}

/** The first finding as the error of a step. */
export function errorOfFinding({ code, message, remediation }: Finding): DriverError {
  return new DriverError({ kind: "permanent", code, message, remediation });
}
