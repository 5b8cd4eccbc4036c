import { hasEndedPart } from "./resource-end";
import type { Task } from "./task";
import { precheckType } from "./task-prechecks";

/** Ids of the resources that have ended, as the upgrade itself knows. */
export function endedResources({ subTasks = [] }: Task): ReadonlySet<string> {
  const products = subTasks.filter(({ type }) => type !== precheckType);
  const ended = products.flatMap(({ subTasks: resources = [] }) => resources.filter(hasEndedPart));
  return new Set(ended.map(({ resources }) => resources?.[0]?.resourceId ?? ""));
}
