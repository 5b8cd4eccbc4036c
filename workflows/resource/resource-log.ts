import { log } from "@temporalio/workflow";
import type { ErrorBody } from "../../src/domain/errors";
import type { SubTask } from "../../src/domain/spec/task";
import { hasEndedPart, type HostCounts } from "../../src/domain/task/sub-task";
import { stopwatch } from "../clock";

/** Of which a resource stands still until something else happens. */
const waits: ReadonlySet<string> = new Set(["Waiting", "SwitchoverAwaited"]);

/** Tells in the log what happens to a resource and to its hosts or components: one line for each event. */
export class ResourceLog {
  private readonly began = new Map<string, () => number>();

  constructor(private readonly resource: { readonly resourceId: string; readonly name: string | undefined }) {}

  /** An event of the resource, by its type. */
  happened(event: string, before: SubTask, after: SubTask): void {
    if (after.subTasks && !before.subTasks) this.partsRead(after.subTasks);
    if (waits.has(event)) this.tell("Resource waits", { doing: after.description });
    if (event === "ClosureChanged") this.tell("What may begin of a resource changed", { doing: after.description });
    if (event === "PauseChanged") this.tell("Resource paused or resumed", { doing: after.description });
    const known = new Map(before.subTasks?.map((part) => [part.name, part.status]));
    for (const part of after.subTasks ?? []) {
      const from = known.get(part.name);
      if (from === undefined || from === part.status) continue;
      if (part.status === "IN_PROGRESS") this.partBegan(part);
      // Those that were not begun are many, and are counted at the end of the resource.
      else if (from === "IN_PROGRESS" && hasEndedPart(part)) this.partEnded(part);
    }
  }

  entered(doing: string): void {
    this.tell("Resource entered a phase", { doing });
  }

  ended(doing: string, hosts: HostCounts, error: ErrorBody | undefined): void {
    if (error) this.tell("Resource failed", { errorCode: error.errorCode, hosts, error });
    else this.tell("Resource ended", { doing, hosts });
  }

  private partsRead(parts: readonly SubTask[]): void {
    const toUpgrade = parts.filter((part) => !hasEndedPart(part)).map(({ name }) => name);
    this.tell("Read the parts of a resource", { total: parts.length, toUpgrade });
  }

  private partBegan(part: SubTask): void {
    this.began.set(part.name, stopwatch());
    this.tell("Upgrade of a part started", named(part));
  }

  private partEnded(part: SubTask): void {
    const seconds = this.began.get(part.name);
    const error = part.errors?.at(-1);
    this.tell("Upgrade of a part ended", {
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

function named(part: SubTask): Record<string, string> {
  return part.type === "HOST_UPGRADE" ? { host: part.name } : { component: part.name };
}
