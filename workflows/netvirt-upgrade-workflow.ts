import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  log,
  proxyActivities,
  setHandler,
} from "@temporalio/workflow";
import type { NetvirtSettings, UpgradeActivities } from "../activities/contract";
import { interrupted } from "../src/domain/resource-end";
import type { ErrorBody } from "../src/domain/error-body";
import { netvirtStages, type NetvirtStageType } from "../src/domain/netvirt-progress";
import { netvirtComponentNames, type NetvirtComponentType, type NetvirtNodeState } from "../src/domain/netvirt-upgrade";
import { errorOf } from "./activity-failure";
import { netvirtTarget } from "./activity-targets";
import { endHereIfCancelled } from "./end-here-if-cancelled";
import { beginSignal, type NetvirtUpgradeInput, type ResourceResult } from "./messages";
import { NetvirtUpgradeState } from "./netvirt-upgrade-state";
import { changeOptions, lookOptions, netvirtReadOptions, restoreOptions } from "./retry-policy";
import { untilAnswered } from "./until-answered";
import { upgradeNetvirtComponent } from "./upgrade-netvirt-component";

const reads = proxyActivities<UpgradeActivities>(netvirtReadOptions());
const looks = proxyActivities<UpgradeActivities>(lookOptions());
const changes = proxyActivities<UpgradeActivities>(changeOptions({ maximumAttempts: 1, retryDelay: 0 }));
const restores = proxyActivities<UpgradeActivities>(restoreOptions());

/**
 * Upgrades one NETVIRT instance, component by component. Its Workflow ID is the instance's lock: it is held from the
 * start, also while it waits for its turn. Closes as completed, failed or cancelled, with a {@link ResourceResult} in
 * the result or in the failure's details and the whole SubTask in its memo.
 */
export async function netvirtUpgradeWorkflow(input: NetvirtUpgradeInput): Promise<ResourceResult> {
  const state = new NetvirtUpgradeState(input);
  const turn = { begun: false };
  setHandler(beginSignal, () => {
    turn.begun = true;
  });
  state.publish("Waiting for its turn");
  try {
    await condition(() => turn.begun);
    await state.pause.pass();
    return await upgradeInstance(state);
  } catch (failure) {
    const what = `NETVIRT ${input.netvirt.name}`;
    // Whatever failed last: the upgrade was cancelled, and that is how it ends.
    if (CancellationScope.current().consideredCancelled) {
      state.end(turn.begun ? "CANCELLED" : "NOT_BEGUN", "Cancelled", turn.begun ? interrupted(what) : undefined);
      throw isCancellation(failure) ? failure : new CancelledFailure(`${what} was cancelled`);
    }
    const error = errorOf(failure);
    const result = state.end("FAILED", "Failed", error);
    throw ApplicationFailure.nonRetryable(error.message, error.errorCode, result);
  }
}

async function upgradeInstance(state: NetvirtUpgradeState): Promise<ResourceResult> {
  const { netvirt, waits } = state.input;
  const target = netvirtTarget(state.input.netvirt);
  const { components, previous } = await stage(state, "READ_UPGRADE", () =>
    untilAnswered(waits, () =>
      reads.readNetvirtUpgrade.executeWithOptions(
        { ...netvirtReadOptions(waits), summary: `${netvirt.name}: read components and settings` },
        [target],
      ),
    ),
  );
  state.record({ type: "ComponentsRead", components });
  await state.report();
  if (state.waitingComponents().length === 0) {
    return state.end("NOTHING_TO_DO", `Nothing to do: what is to be upgraded runs ${netvirt.targetVersion}`);
  }
  await state.pause.pass();
  state.publish("Preparing");
  await restoringAfterwards(state, previous, async () => {
    await stage(state, "PUT_SETTINGS", () =>
      untilAnswered(waits, () =>
        changes.putNetvirtSettings.executeWithOptions(
          { ...changeOptions(netvirt.attempts, waits), summary: `${netvirt.name}: set the coordinator's plan` },
          [{ ...target, previous }],
        ),
      ),
    );
    await stage(state, "UPGRADE_COMPONENTS", () => upgradeComponents(state));
  });
  return state.end("SUCCESSFUL", `Runs ${netvirt.targetVersion}`);
}

/** Components one after another; the first that fails ends the instance, and those after it are not begun. */
async function upgradeComponents(state: NetvirtUpgradeState): Promise<void> {
  const { netvirt, waits } = state.input;
  const { attempts } = netvirt;
  for (const component of state.waitingComponents()) {
    await endHereIfCancelled();
    await state.pause.pass();
    state.record({ type: "ComponentStarted", component });
    state.publish(`Upgrading ${netvirtComponentNames[component]}`);
    try {
      await upgradeNetvirtComponent({ ...netvirtTarget(netvirt), component, attempts }, waits);
      state.record({ type: "ComponentSucceeded", component });
    } catch (failure) {
      const nodes = await CancellationScope.nonCancellable(() => nodesNow(state, component));
      const error = isCancellation(failure)
        ? interrupted(`The upgrade of the ${netvirtComponentNames[component]}`)
        : errorOf(failure);
      state.record({ type: "ComponentFailed", component, error, ...(nodes && { nodes }) });
      throw failure;
    } finally {
      await CancellationScope.nonCancellable(() => state.report());
    }
  }
}

/** How the nodes of a component that has failed or was paused stand; undefined where the coordinator does not say. */
async function nodesNow(
  state: NetvirtUpgradeState,
  component: NetvirtComponentType,
): Promise<readonly NetvirtNodeState[] | undefined> {
  const { netvirt, waits } = state.input;
  const { name } = netvirt;
  try {
    const { components } = await looks.readNetvirtUpgrade.executeWithOptions(
      { ...lookOptions(waits), summary: `${name}: what became of the ${netvirtComponentNames[component]}?` },
      [netvirtTarget(netvirt)],
    );
    return components.find(({ type }) => type === component)?.groups.flatMap(({ nodes }) => nodes);
  } catch (failure) {
    log.warn("What became of the nodes of a component could not be read", { name, component, failure });
    return undefined;
  }
}

/** Puts the coordinator's plan back whatever happens in between: also after a failure and a cancellation. */
async function restoringAfterwards(
  state: NetvirtUpgradeState,
  previous: NetvirtSettings,
  work: () => Promise<void>,
): Promise<void> {
  let failure: { readonly cause: unknown } | undefined;
  try {
    await work();
  } catch (cause) {
    failure = { cause };
  }
  const { netvirt, waits } = state.input;
  await CancellationScope.nonCancellable(async () => {
    try {
      await stage(state, "RESTORE_SETTINGS", () =>
        untilAnswered(waits, () =>
          restores.restoreNetvirtSettings.executeWithOptions(
            { ...restoreOptions(waits), summary: `${netvirt.name}: restore the coordinator's plan` },
            [{ ...netvirtTarget(state.input.netvirt), previous }],
          ),
        ),
      );
    } catch (cause) {
      failure = { cause: notRestored(netvirt.name, errorOf(cause), failure && errorOf(failure.cause)) };
    }
  });
  if (failure) throw failure.cause;
}

async function stage<T>(state: NetvirtUpgradeState, type: NetvirtStageType, work: () => Promise<T>): Promise<T> {
  await endHereIfCancelled();
  state.record({ type: "StageStarted", stage: type });
  try {
    const result = await work();
    state.record({ type: "StageSucceeded", stage: type });
    return result;
  } catch (failure) {
    const error = isCancellation(failure) ? interrupted(netvirtStages[type]) : errorOf(failure);
    state.record({ type: "StageFailed", stage: type, error });
    throw failure;
  }
}

/** `before`: what had failed already when the restore failed as well. */
function notRestored(name: string, cause: ErrorBody, before?: ErrorBody): ApplicationFailure {
  const error: ErrorBody = {
    errorCode: "NETVIRT_SETTINGS_NOT_RESTORED",
    errorType: "FAILED_DEPENDENCY",
    message: `${before ? `${before.message} Moreover,` : `${name} is upgraded, but`} the plan of its upgrade coordinator could not be put back.`,
    remediationMessage: "Set the groups and plan settings of the upgrade coordinator by hand, then retry.",
    nestedErrors: [...(before ? [before] : []), cause],
  };
  return ApplicationFailure.nonRetryable(error.message, error.errorCode, { error });
}
