import type { SubTask, Task } from "./task";
import type { UpgradePhase } from "./upgrade-status";

/** The part of a Task that says in words where the upgrade stands, where its status alone does not say enough. */
export function describeTask(task: Task, phase: UpgradePhase): Pick<Task, "localizableDescriptionPack"> {
  const { localizableDescriptionPack: pack, name } = task;
  if (!pack) return {};
  const planned = pack.arguments?.slice(0, plannedArguments) ?? [];
  if (phase === "PAUSED") {
    const message = `${name}: paused. What is in work goes on to its end, nothing new starts until it is resumed.`;
    return saying({ ...pack, messageKey: "upgrade.task.paused", arguments: planned, message });
  }
  if (phase === "CANCELLED") {
    const counts = countResources(task);
    return saying({
      ...pack,
      messageKey: "upgrade.task.cancelled",
      arguments: [...planned, ...Object.values(counts).map(String)],
      message: `${name}: cancelled. ${sentence(counts)}`,
    });
  }
  if (phase === "START_MISSED") {
    const message = `${name}: waits for a commit, because its scheduled time passed before the service could start it.`;
    return saying({ ...pack, messageKey: "upgrade.task.start-missed", arguments: planned, message });
  }
  if (task.lateSeconds !== undefined) {
    const minutes = Math.floor(task.lateSeconds / 60);
    const message = `${name}: began ${minutes === 1 ? "1 minute" : `${minutes} minutes`} after its time.`;
    return saying({ ...pack, messageKey: "upgrade.task.late", arguments: [...planned, String(minutes)], message });
  }
  return saying({ ...pack, messageKey: "upgrade.task.name", arguments: planned, message: name });
}

/** How many of the pack's arguments come from the plan: the number of resources and the version. */
const plannedArguments = 2;

function saying(localizableDescriptionPack: Required<Task>["localizableDescriptionPack"]) {
  return { localizableDescriptionPack };
}

interface ResourceCounts {
  readonly upgraded: number;
  readonly needless: number;
  readonly interrupted: number;
  readonly notBegun: number;
}

/** Resources by what a cancellation found them at; each cancelled or failed one is `interrupted`. */
function countResources({ subTasks = [] }: Task): ResourceCounts {
  const resources = subTasks
    .filter(({ type }) => type.endsWith("_UPGRADE"))
    .flatMap((product) => product.subTasks ?? []);
  const count = (...statuses: SubTask["status"][]) =>
    resources.filter(({ status }) => statuses.includes(status)).length;
  return {
    upgraded: count("SUCCESSFUL"),
    needless: count("NOT_APPLICABLE"),
    interrupted: count("IN_PROGRESS", "FAILED"),
    notBegun: count("PENDING"),
  };
}

function sentence({ upgraded, needless, interrupted, notBegun }: ResourceCounts): string {
  const total = upgraded + needless + interrupted + notBegun;
  const needed = needless > 0 ? ` ${needless} needed nothing,` : "";
  return `Of ${total} resources ${upgraded} had been upgraded,${needed} ${interrupted} had begun and did not end well, ${notBegun} had not begun; the subtasks say more.`;
}
