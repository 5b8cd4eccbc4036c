import { beginTime } from "../plan/schedule";
import type { ResourcePlan } from "../plan/upgrade-plan";
import type { SubTask, Task, WaitingFor } from "../spec/task";
import { toTimestamp } from "../timestamp";
import { atWork } from "./sub-task";

/** What differs by less is no delay: a timer and the worker that it wakes are never quite on time (seconds). */
const onTime = 60;

/** How late the work has begun in whole seconds; undefined where that was on time. */
export function lateSeconds(milliseconds: number): number | undefined {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds >= onTime ? seconds : undefined;
}

/** What resources wait for that were not begun at their time. `at`: since when, a Timestamp. */
function waitingForCommit(resources: readonly ResourcePlan[], at: string): WaitingFor {
  const [first] = resources;
  const what = resources.length === 1 && first ? first.name : `${resources.length} resources`;
  const time = toTimestamp(Math.min(...resources.map(beginTime)));
  const times =
    resources.length === 1 ? `its scheduled time, ${time},` : `their scheduled times, the first at ${time},`;
  const message = `${what} did not start: ${times} passed before the service could start it. Commit the upgrade to start now or at another time.`;
  return { code: "COMMIT", message, since: at };
}

/** A Task of which these resources were not begun at their time. */
export function missStart(task: Task, resources: readonly ResourcePlan[], at: string): Task {
  const missed = new Map(resources.map((resource) => [resource.resourceId, resource]));
  const waiting = (part: SubTask): SubTask => {
    const resource = missed.get(part.resources?.[0]?.resourceId ?? "");
    return resource && part.status === "PENDING" ? { ...part, waitingFor: waitingForCommit([resource], at) } : part;
  };
  return { ...changeResources(task, waiting), waitingFor: waitingForCommit(resources, at) };
}

/** A Task of which nothing waits for a commit any more. */
export function confirmStart({ waitingFor: _, ...task }: Task): Task {
  return changeResources(task, (part) => (part.waitingFor?.code === "COMMIT" ? atWork(part) : part));
}

function changeResources(task: Task, change: (resource: SubTask) => SubTask): Task {
  const inPart = (part: SubTask) => ({ ...part, ...(part.subTasks && { subTasks: part.subTasks.map(change) }) });
  return { ...task, ...(task.subTasks && { subTasks: task.subTasks.map(inPart) }) };
}

/** Whether a commit is what it waits for, although it has been committed before. */
export function awaitsLateCommit({ waitingFor }: Pick<Task, "waitingFor">): boolean {
  return waitingFor?.code === "COMMIT";
}
