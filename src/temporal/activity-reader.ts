import type { Client } from "@temporalio/client";
import { activityQuery } from "../../workflows/messages";
import { CoalescedCalls } from "../coalesced-calls";
import { ActivityRecord } from "../domain/activity/upgrade-activity";
import { blockedError } from "../domain/task/lost-upgrade";
import { toTimestamp } from "../domain/timestamp";
import type { ReadActivity } from "../upgrades/ports";
import { BlockFinder } from "./blocked-workflows";
import { describeWorkflow, readAs } from "./describe-workflow";
import { QueryCache } from "./query-cache";

/** How many entries the answers hold that are remembered, of some 300 bytes each. */
const rememberedEntries = 50_000;

/**
 * Reads the activity logs of upgrades. They are in no memo, which lists would carry along, so a closed upgrade is asked by
 * Query too: a worker replays its history for it, once, because an answer holds until the history grows.
 */
export class ActivityReader {
  private readonly reads = new CoalescedCalls<ReadActivity | undefined>();
  private readonly answers = new QueryCache<ActivityRecord>(rememberedEntries, ({ entries }) => entries.length);
  private readonly blocks: BlockFinder;

  constructor(
    private readonly client: Client,
    /** Milliseconds: one call, and a Query, which may have to replay a history. */
    private readonly timeouts: { readonly call: number; readonly query: number },
  ) {
    this.blocks = new BlockFinder(client, timeouts.call);
  }

  /** Undefined where no upgrade has the id. */
  read(id: string): Promise<ReadActivity | undefined> {
    return this.reads.share(id, () => this.ask(id));
  }

  private async ask(id: string): Promise<ReadActivity | undefined> {
    const description = await describeWorkflow(this.client, { workflowId: id }, Date.now() + this.timeouts.call);
    if (description?.type !== "upgradeWorkflow") return undefined;
    const current = this.answers.current(id, description);
    if (current) return { _tag: "Answered", record: current };
    const blocked = await this.blocks.find(id, description);
    const record = blocked ? undefined : await this.query(id, description.runId);
    if (record) {
      this.answers.remember(id, record, description);
      return { _tag: "Answered", record };
    }
    const known = this.answers.recall(id, description);
    if (known) return { _tag: "Answered", record: known.answer, asOf: toTimestamp(known.answeredAt) };
    return { _tag: "Unanswered", ...(blocked && { blocked: blockedError(blocked) }) };
  }

  /** Undefined where no worker answers in time, or none can run the Workflow. */
  private async query(id: string, runId: string): Promise<ActivityRecord | undefined> {
    const handle = this.client.workflow.getHandle(id, runId);
    try {
      const answer = await this.client.withDeadline(Date.now() + this.timeouts.query, () =>
        handle.query(activityQuery),
      );
      return readAs(ActivityRecord, answer);
    } catch {
      return undefined;
    }
  }
}
