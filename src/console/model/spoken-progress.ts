import type { Task } from "../../domain/task";
import { counted } from "./counted";
import { hostProgressOfTask } from "./host-progress";

/**
 * What a screen reader says of itself: the phase, hosts that failed, and every quarter of the hosts. More would talk all
 * the time.
 */
export function spokenProgress(phase: string, task: Task): string {
  const { total, done, failed } = hostProgressOfTask(task);
  const quarters = total === 0 ? 0 : Math.floor((done / total) * 4);
  return [
    `Upgrade: ${phase}.`,
    ...(quarters > 0 ? [`${quarters * 25} percent of the hosts are done.`] : []),
    ...(failed > 0 ? [`${counted(failed, "host")} failed.`] : []),
  ].join(" ");
}
