import { consequencesOf } from "./consequences";
import { awaitsCommit } from "./draft-state";
import { awaitsLateCommit } from "../../domain/late-start";
import type { Task } from "../../domain/task";
import type { Upgrade } from "../../domain/upgrade";

type OperationName = "commit" | "reschedule" | "pause" | "resume" | "cancel" | "retry" | "resolve" | "prechecks";

/** Something that can be asked of an upgrade now: the button, what it will do, and the request that does it. */
export interface Operation {
  readonly name: OperationName;
  readonly label: string;
  /** Sentences for the one who is asked to confirm. */
  readonly consequences: readonly string[];
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** Whether a time may or must be given with it. */
  readonly time?: "OPTIONAL" | "REQUIRED";
  /** Whether it ends or gives up something. */
  readonly isGrave?: true;
}

/** The operations that the service would accept now, the most likely one first. */
export function operationsOf(upgraded: Upgrade, task: Task): Operation[] {
  const { id, status } = upgraded;
  const consequences = consequencesOf(upgraded, task);
  const upgrade = `/v1/upgrades/${id}`;
  const possible: (Operation | false)[] = [
    (awaitsCommit(status, task) === "READY" || awaitsLateCommit(task)) && {
      name: "commit",
      label: "Commit",
      consequences: consequences.commit,
      method: "PATCH",
      path: upgrade,
      time: "OPTIONAL",
    },
    status === "SCHEDULED" && {
      name: "reschedule",
      label: "Reschedule",
      consequences: consequences.reschedule,
      method: "PATCH",
      path: upgrade,
      time: "REQUIRED",
    },
    awaitsCommit(status, task) !== undefined && {
      name: "prechecks",
      label: "Run prechecks",
      consequences: consequences.prechecks,
      method: "POST",
      path: `${upgrade}/prechecks`,
    },
    status === "INPROGRESS" && {
      name: "pause",
      label: "Pause",
      consequences: consequences.pause,
      method: "POST",
      path: `${upgrade}/pause`,
    },
    status === "PAUSED" && {
      name: "resume",
      label: "Resume",
      consequences: consequences.resume,
      method: "POST",
      path: `${upgrade}/resume`,
    },
    task.isRetryable === true && {
      name: "retry",
      label: "Retry",
      consequences: consequences.retry,
      method: "PATCH",
      path: `/v1/tasks/${id}`,
    },
    status === "COMPLETED_WITH_FAILURE" &&
      task.resolutionStatus === "UNRESOLVED" && {
        name: "resolve",
        label: "Give up",
        consequences: consequences.resolve,
        method: "POST",
        path: `${upgrade}/resolve`,
        isGrave: true,
      },
    task.isCancellable === true && {
      name: "cancel",
      label: "Cancel upgrade",
      consequences: consequences.cancel,
      method: "DELETE",
      path: `/v1/tasks/${id}`,
      isGrave: true,
    },
  ];
  return possible.filter((operation) => operation !== false);
}
