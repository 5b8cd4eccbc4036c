import { awaitsCommit } from "./draft-state";
import type { Task } from "../../domain/task";
import type { Upgrade } from "../../domain/upgrade";

export type OperationName = "commit" | "reschedule" | "pause" | "resume" | "cancel" | "retry" | "resolve" | "prechecks";

/** Something that can be asked of an upgrade now: the button, what it will do, and the request that does it. */
export interface Operation {
  readonly name: OperationName;
  readonly label: string;
  /** One or two sentences for the one who is asked to confirm. */
  readonly consequence: string;
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** Whether a time may or must be given with it. */
  readonly time?: "OPTIONAL" | "REQUIRED";
  /** Whether it ends or gives up something. */
  readonly isGrave?: true;
}

/** The operations that the service would accept now, the most likely one first. */
export function operationsOf({ id, status }: Upgrade, task: Task): Operation[] {
  const upgrade = `/v1/upgrades/${id}`;
  const possible: (Operation | false)[] = [
    awaitsCommit(status, task) === "READY" && {
      name: "commit",
      label: "Commit",
      consequence:
        "The draft becomes an upgrade: it takes its clusters and upgrades their hosts, at once or at the time you give.",
      method: "PATCH",
      path: upgrade,
      time: "OPTIONAL",
    },
    status === "SCHEDULED" && {
      name: "reschedule",
      label: "Reschedule",
      consequence: "All clusters of this upgrade begin at the new time instead of their own.",
      method: "PATCH",
      path: upgrade,
      time: "REQUIRED",
    },
    awaitsCommit(status, task) !== undefined && {
      name: "prechecks",
      label: "Run prechecks",
      consequence: "The prechecks of all resources run again. They change nothing; earlier runs stay to be read.",
      method: "POST",
      path: `${upgrade}/prechecks`,
    },
    status === "INPROGRESS" && {
      name: "pause",
      label: "Pause",
      consequence:
        "No new host, cluster or product begins. Hosts in work are finished, with the retries they have left.",
      method: "POST",
      path: `${upgrade}/pause`,
    },
    status === "PAUSED" && {
      name: "resume",
      label: "Resume",
      consequence: "The upgrade goes on where it was paused.",
      method: "POST",
      path: `${upgrade}/resume`,
    },
    task.isRetryable === true && {
      name: "retry",
      label: "Retry",
      consequence: "What failed is tried again under the same id. Hosts that are done are not upgraded again.",
      method: "PATCH",
      path: `/v1/tasks/${id}`,
    },
    status === "COMPLETED_WITH_FAILURE" &&
      task.resolutionStatus === "UNRESOLVED" && {
        name: "resolve",
        label: "Give up",
        consequence: "The upgrade ends as failed and can no longer be retried. Hosts stay as they are.",
        method: "POST",
        path: `${upgrade}/resolve`,
        isGrave: true,
      },
    task.isCancellable === true && {
      name: "cancel",
      label: "Cancel upgrade",
      consequence:
        "Nothing more begins. A host that is being upgraded is brought to a safe end first, so this may take a while. Hosts that are done stay upgraded.",
      method: "DELETE",
      path: `/v1/tasks/${id}`,
      isGrave: true,
    },
  ];
  return possible.filter((operation) => operation !== false);
}
