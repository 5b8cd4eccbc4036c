import { type ApplicationFailure, CancellationScope, isCancellation, log, proxyActivities } from "@temporalio/workflow";
import type {
  NetvirtSettings,
  NetvirtUpgrade,
  UpgradeActivities,
  UpgradeNetvirtComponentInput,
} from "../../activities/contract";
import type { SubTask } from "../../src/domain/spec/task";
import {
  applyNetvirtProgress,
  countNodes,
  initialNetvirtSubTask,
  type NetvirtEvent,
  netvirtStages,
  type NetvirtStageType,
  nodesOf,
  waitingComponents,
} from "../../src/domain/task/netvirt-progress";
import {
  netvirtComponentNames,
  type NetvirtComponentResult,
  type NetvirtComponentType,
  type NetvirtNodeState,
  NetvirtProgress,
} from "../../src/domain/task/netvirt-upgrade";
import { type HostCounts, interrupted, type ResourceOutcome } from "../../src/domain/task/sub-task";
import type { ActivityWaits } from "../../src/domain/time-limits";
import { changeOptions, lookOptions, netvirtReadOptions, netvirtTarget, restoreOptions } from "../activity-options";
import { now } from "../clock";
import { errorOf, closureIn, progressOf } from "../failures";
import { runResumable, retryWhileLost } from "../lost-activities";
import type { NetvirtUpgradeInput, ResourceResult } from "../messages";
import { type CommonEvent, type EndDetails, ResourceState, upgradedIds } from "./resource-state";
import {
  endHereIfCancelled,
  leftBehind,
  type ResourceEnding,
  restoringAfterwards,
  runResource,
  runStage,
} from "./resource-workflow";

const reads = proxyActivities<UpgradeActivities>(netvirtReadOptions());
const looks = proxyActivities<UpgradeActivities>(lookOptions());
const changes = proxyActivities<UpgradeActivities>(changeOptions());
const restores = proxyActivities<UpgradeActivities>(restoreOptions());

/** Upgrades one NETVIRT instance, component by component. See {@link runResource}. */
export function netvirtUpgradeWorkflow(input: NetvirtUpgradeInput): Promise<ResourceResult> {
  const state = new NetvirtUpgradeState(input);
  return runResource(state, { title: `NETVIRT ${input.netvirt.name}`, upgrade: () => upgradeInstance(state) });
}

async function upgradeInstance(state: NetvirtUpgradeState): Promise<ResourceEnding> {
  const { netvirt } = state.input;
  const { components, previous } = await stage(state, "READ_UPGRADE", () => readUpgrade(state));
  state.record({ type: "ComponentsRead", components });
  state.report();
  if (state.waitingComponents().length === 0) {
    const doing = `Nothing to do: every component runs ${netvirt.targetVersion}`;
    return { outcome: "NOTHING_TO_DO", doing };
  }
  await state.pause.pass();
  state.publish("Preparing");
  await restoringAfterwards(
    async () => {
      await state.beginning(() => stage(state, "PUT_SETTINGS", () => putSettings(state, previous)));
      await stage(state, "UPGRADE_COMPONENTS", () => upgradeComponents(state));
    },
    () => stage(state, "RESTORE_SETTINGS", () => restoreSettings(state, previous)),
    (cause, before) => settingsNotRestored(netvirt.name, cause, before),
  );
  return { outcome: "SUCCESSFUL", doing: `Runs ${netvirt.targetVersion}` };
}

/** Components and settings as they are, recorded in the history before anything is changed. */
function readUpgrade({ input: { netvirt, waits } }: NetvirtUpgradeState): Promise<NetvirtUpgrade> {
  return retryWhileLost(waits, () =>
    reads.readNetvirtUpgrade.executeWithOptions(
      { ...netvirtReadOptions(waits), summary: `${netvirt.name}: read components and settings` },
      [netvirtTarget(netvirt)],
    ),
  );
}

function putSettings({ input: { netvirt, waits } }: NetvirtUpgradeState, previous: NetvirtSettings): Promise<void> {
  return retryWhileLost(waits, () =>
    changes.putNetvirtSettings.executeWithOptions(
      { ...changeOptions(netvirt.attempts, waits), summary: `${netvirt.name}: set the coordinator's plan` },
      [{ ...netvirtTarget(netvirt), previous }],
    ),
  );
}

function restoreSettings({ input: { netvirt, waits } }: NetvirtUpgradeState, previous: NetvirtSettings): Promise<void> {
  return retryWhileLost(waits, () =>
    restores.restoreNetvirtSettings.executeWithOptions(
      { ...restoreOptions(waits), summary: `${netvirt.name}: restore the coordinator's plan` },
      [{ ...netvirtTarget(netvirt), previous }],
    ),
  );
}

/** Components one after another; the first that fails ends the instance, and those after it are not begun. */
async function upgradeComponents(state: NetvirtUpgradeState): Promise<void> {
  for (const component of state.waitingComponents()) {
    await endHereIfCancelled();
    await state.pause.pass();
    try {
      await upgradeComponent(state, component);
      state.record({ type: "ComponentSucceeded", component });
    } catch (failure) {
      const nodes = await CancellationScope.nonCancellable(() => nodesNow(state, component));
      const error = isCancellation(failure)
        ? interrupted(`The upgrade of the ${netvirtComponentNames[component]}`)
        : errorOf(failure);
      state.record({ type: "ComponentFailed", component, error, ...(nodes && { nodes }) });
      throw failure;
    } finally {
      state.report();
    }
  }
}

/** Upgrades one component; again where a freeze has kept it from beginning, with the attempts that are left. */
async function upgradeComponent(state: NetvirtUpgradeState, component: NetvirtComponentType): Promise<void> {
  let known: NetvirtProgress | undefined;
  await state.beginning(async () => {
    state.record({ type: "ComponentStarted", component });
    state.publish(`Upgrading ${netvirtComponentNames[component]}`);
    const { netvirt, waits } = state.input;
    const input = { ...netvirtTarget(netvirt), component, attempts: netvirt.attempts };
    try {
      await upgradeNetvirtComponent(input, waits, known);
    } catch (failure) {
      if (closureIn(failure)) {
        const progress = progressOf(failure, NetvirtProgress);
        known = progress && progress.reportedFailures > 0 ? progress : undefined;
        state.record({ type: "ComponentPutBack", component });
      }
      throw failure;
    }
  });
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
      { ...lookOptions(waits), summary: `${name}: read the outcome of the ${netvirtComponentNames[component]}` },
      [netvirtTarget(netvirt)],
    );
    return components.find(({ type }) => type === component)?.groups.flatMap(({ nodes }) => nodes);
  } catch (failure) {
    log.warn("Could not read the outcome of the nodes of a component", { name, component, failure });
    return undefined;
  }
}

function stage<T>(state: NetvirtUpgradeState, type: NetvirtStageType, work: () => Promise<T>): Promise<T> {
  return runStage(state, type, netvirtStages[type], work);
}

/** `before`: what had failed already when the restore failed as well. */
function settingsNotRestored(
  name: string,
  cause: unknown,
  before: { readonly cause: unknown } | undefined,
): ApplicationFailure {
  const earlier = before ? [errorOf(before.cause)] : [];
  const message = earlier[0] ? `${earlier[0].message} Moreover,` : `${name} is upgraded, but`;
  return leftBehind(
    "NETVIRT_SETTINGS_NOT_RESTORED",
    {
      message: `${message} the plan of its upgrade coordinator could not be restored.`,
      remediationMessage: "Restore the groups and plan settings of the upgrade coordinator manually, then retry.",
    },
    [...earlier, errorOf(cause)],
  );
}

/** An event without its time, which is now. */
type ProgressEvent = NetvirtEvent extends infer P ? (P extends unknown ? Omit<P, "at"> : never) : never;

/** A NETVIRT instance's SubTask while its Workflow runs, and everywhere that it is shown. */
class NetvirtUpgradeState extends ResourceState<ProgressEvent, NetvirtStageType> {
  protected readonly counted = "Nodes";

  constructor(private readonly given: NetvirtUpgradeInput) {
    super({ ...given, ...given.netvirt }, initialNetvirtSubTask(given.netvirt, now()));
  }

  /** As it was started, with what its upgrade ignores since. */
  get input(): NetvirtUpgradeInput {
    return { ...this.given, netvirt: this.current(this.given.netvirt) };
  }

  protected apply(event: ProgressEvent | CommonEvent<NetvirtStageType>, at: string): SubTask {
    return applyNetvirtProgress(this.subTask, { ...event, at });
  }

  protected counts(): HostCounts {
    return countNodes(this.subTask);
  }

  protected ending(outcome: ResourceOutcome, { error }: EndDetails): ProgressEvent {
    return { type: "Ended", outcome, ...(error && { error }) };
  }

  protected upgradedHosts(): readonly string[] {
    return upgradedIds(nodesOf(this.subTask));
  }

  /** Components that still have to be upgraded, in their order. */
  waitingComponents(): readonly NetvirtComponentType[] {
    return waitingComponents(this.subTask);
  }
}

/** Upgrades one component, whatever becomes of the workers meanwhile. Throws as {@link runResumable} does. */
function upgradeNetvirtComponent(
  input: UpgradeNetvirtComponentInput,
  waits: ActivityWaits,
  known: NetvirtProgress | undefined,
): Promise<NetvirtComponentResult> {
  const { netvirt, component, attempts } = input;
  return runResumable({
    name: `${netvirt.name}: ${netvirtComponentNames[component]}`,
    attempts,
    waits,
    known,
    progress: NetvirtProgress,
    reportedFailures: ({ reportedFailures }) => reportedFailures,
    run: (left, again) =>
      changes.upgradeNetvirtComponent.executeWithOptions(
        {
          ...changeOptions(left, waits),
          activityId: `component/${component}`,
          summary: `${netvirt.name}: upgrade ${netvirtComponentNames[component]}`,
        },
        [{ ...input, ...again }],
      ),
  });
}
