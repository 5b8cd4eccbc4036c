import { log } from "@temporalio/workflow";
import type { ErrorBody } from "../src/domain/error-body";
import type { HostCounts } from "../src/domain/host-counts";
import { hasEndedPart } from "../src/domain/resource-end";
import type { SubTask } from "../src/domain/task";
import { stopwatch } from "./clock";

/** Of which a resource stands still until something else happens. */
const waits: ReadonlySet<string> = new Set(["Waiting", "SwitchoverAwaited"]);

/** Tells in the log what happens to a resource and to its hosts or components: one line for each event. */
export class ResourceLog {
  private readonly began = new Map<string, () => number>();

  constructor(private readonly resource: { readonly resourceId: string; readonly name: string | undefined }) {}

  /** The resource has got on; `happening` is the type of what has happened. */
  happened(happening: string, before: SubTask, after: SubTask): void {
    if (after.subTasks && !before.subTasks) this.partsRead(after.subTasks);
    if (waits.has(happening)) this.tell("A resource waits", { doing: after.description });
    if (happening === "PauseChanged") this.tell("A resource was paused, or goes on", { doing: after.description });
    const known = new Map(before.subTasks?.map((part) => [nameOf(part), part.status]));
    for (const part of after.subTasks ?? []) {
      const from = known.get(nameOf(part));
      if (from === undefined || from === part.status) continue;
      if (part.status === "IN_PROGRESS") this.partBegan(part);
      // Those that were not begun are many, and are counted at the end of the resource.
      else if (from === "IN_PROGRESS" && hasEndedPart(part)) this.partEnded(part);
    }
  }

  entered(doing: string): void {
    this.tell("A resource entered a phase", { doing });
  }

  ended(doing: string, hosts: HostCounts, error: ErrorBody | undefined): void {
    if (error) this.tell("A resource ended with an error", { errorCode: error.errorCode, hosts, error });
    else this.tell("A resource ended", { doing, hosts });
  }

  private partsRead(parts: readonly SubTask[]): void {
    const toUpgrade = parts.filter((part) => !hasEndedPart(part)).map(nameOf);
    this.tell("The parts of a resource were read", { total: parts.length, toUpgrade });
  }

  private partBegan(part: SubTask): void {
    this.began.set(nameOf(part), stopwatch());
    this.tell("The upgrade of a part began", named(part));
  }

  private partEnded(part: SubTask): void {
    const seconds = this.began.get(nameOf(part));
    const error = part.errors?.at(-1);
    this.tell("The upgrade of a part ended", {
      ...named(part),
      status: part.status,
      ...(seconds && { seconds: seconds() }),
      ...(error && { errorCode: error.errorCode }),
      doing: part.description,
    });
  }

  private tell(message: string, fields: Record<string, unknown>): void {
    const { resourceId, name } = this.resource;
    log.info(message, { resourceId, resource: name, ...fields });
  }
}

function nameOf({ name }: SubTask): string {
  return name;
}

function named(part: SubTask): Record<string, string> {
  return part.type === "HOST_UPGRADE" ? { host: nameOf(part) } : { component: nameOf(part) };
}
