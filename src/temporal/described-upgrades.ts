import type { Client } from "@temporalio/client";
import { hasTaskEnded, lostTask, lostUpgrade } from "../domain/lost-upgrade";
import type { PublishedUpgrade } from "../domain/published-upgrade";
import type { Deadline } from "../upgrades/ports";
import { describeExecution } from "./described-execution";
import { PayloadReader, readAs, StoredUpgrade } from "./memo";
import { lostBecause } from "./workflow-end";

/** An upgrade as Temporal itself knows it, without its Workflow being asked. */
export interface DescribedUpgrade extends PublishedUpgrade {
  readonly running: boolean;
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
  async find(id: string, until: Deadline = Infinity): Promise<DescribedUpgrade | undefined> {
    const deadline = Math.min(Date.now() + this.callTimeout, until);
    const description = await describeExecution(this.client, { workflowId: id }, deadline);
    if (description?.type !== "upgradeWorkflow") return undefined;
    const { memo, status, closeTime, cancelRequested, history, workflowTaskAttempt } = description;
    const stored = readAs(StoredUpgrade, await this.payloads.fields(memo));
    if (!stored) throw new Error(`The memo of upgrade ${id} cannot be read`);
    const { upgrade, task, requestDigest } = stored;
    const lost = lostBecause(status);
    const endedAt = closeTime ?? new Date().toISOString();
    return {
      running: status === "RUNNING",
      cancelRequested,
      upgrade: lost === undefined || upgrade.endTime !== undefined ? upgrade : lostUpgrade(upgrade, endedAt),
      task: lost === undefined || hasTaskEnded(task) ? task : lostTask(task, lost, endedAt),
      requestDigest,
      history,
      mayChange: workflowTaskAttempt > 0,
    };
  }
}
