import { WorkflowNotFoundError, type Client, type WorkflowExecutionDescription } from "@temporalio/client";
import { isRight } from "fp-ts/Either";
import { hasTaskEnded, lostTask, lostUpgrade } from "../domain/lost-upgrade";
import type { Task } from "../domain/task";
import type { Upgrade } from "../domain/upgrade";
import type { Deadline } from "../upgrades/ports";
import { PayloadReader, StoredUpgrade } from "./memo";
import { lostBecause } from "./workflow-end";

/** An upgrade as Temporal itself knows it, without its Workflow being asked. */
export interface DescribedUpgrade {
  readonly running: boolean;
  /** Whether somebody has had it cancelled; it may still be on its way to its safe end. */
  readonly cancelRequested: boolean;
  readonly upgrade: Upgrade;
  /** Without hosts. */
  readonly task: Task;
  readonly requestDigest: string | undefined;
}

/** Reads upgrades from their memos, where each writes at every change of phase. Needs no worker. */
export class DescribedUpgrades {
  private readonly payloads: PayloadReader;

  constructor(
    private readonly client: Client,
    /** Milliseconds for one call to Temporal. */
    private readonly callTimeout: number,
  ) {
    this.payloads = new PayloadReader(client.options.loadedDataConverter);
  }

  /** Undefined where no upgrade has the id. */
  async find(id: string, until?: Deadline): Promise<DescribedUpgrade | undefined> {
    const description = await this.describe(id, until);
    if (description?.type !== "upgradeWorkflow") return undefined;
    const { raw, status, closeTime } = description;
    const stored = StoredUpgrade.decode(await this.payloads.fields(raw.workflowExecutionInfo?.memo));
    if (!isRight(stored)) throw new Error(`The memo of upgrade ${id} cannot be read`);
    const { upgrade, task, requestDigest } = stored.right;
    const lost = lostBecause(status.name);
    const endedAt = (closeTime ?? new Date()).toISOString();
    return {
      running: status.name === "RUNNING",
      cancelRequested: raw.workflowExtendedInfo?.cancelRequested === true,
      upgrade: lost === undefined || upgrade.endTime !== undefined ? upgrade : lostUpgrade(upgrade, endedAt),
      task: lost === undefined || hasTaskEnded(task) ? task : lostTask(task, lost, endedAt),
      requestDigest,
    };
  }

  private async describe(id: string, until: Deadline = Infinity): Promise<WorkflowExecutionDescription | undefined> {
    try {
      return await this.client.withDeadline(Math.min(Date.now() + this.callTimeout, until), () =>
        this.client.workflow.getHandle(id).describe(),
      );
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }
}
