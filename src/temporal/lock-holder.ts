import type { Client } from "@temporalio/client";
import { isRight } from "fp-ts/Either";
import { chunksOf } from "fp-ts/ReadonlyArray";
import type { LockHolder } from "../../activities/contract";
import { Upgrade } from "../domain/upgrade";
import type { UpgradeStatus } from "../domain/upgrade-status";
import { InFlight } from "../in-flight";
import type { Deadline } from "../upgrades/ports";
import { describeExecution } from "./described-execution";
import { type Memo, PayloadReader } from "./memo";
import { locksQuery } from "./visibility-query";
import type { VisibilityReader } from "./visibility-reader";

/** How long Temporal may take to answer, in milliseconds. */
const timeout = 5000;

/** As many locks are looked at one by one, all at the same time; of more Visibility is asked. */
const oneByOne = 16;
/** Names in one filter; more would make it longer than Visibility takes. */
const namesPerQuery = 100;

/** A Workflow that runs, and with it a lock that is held. */
interface HeldLock {
  readonly workflowId: string;
  readonly memo: Memo;
}

/** The statuses of an upgrade that has decided to keep its locks; with any other it takes them, or gives them back. */
const keeping: ReadonlySet<UpgradeStatus | undefined> = new Set<UpgradeStatus>(["SCHEDULED", "INPROGRESS", "PAUSED"]);

/** Finds out who holds locks, for whoever refuses early what would fail later. */
export class LockHolders {
  private readonly payloads: PayloadReader;
  private readonly looks = new InFlight<readonly HeldLock[]>();

  constructor(
    private readonly client: Client,
    private readonly visibility: VisibilityReader,
    /** Milliseconds for one call to Temporal. */
    private readonly callTimeout: number,
  ) {
    this.payloads = new PayloadReader(client.options.loadedDataConverter);
  }

  /**
   * The upgrade of each of these locks that is held. Few are looked at one by one, as they are now: by default a Temporal
   * server lets a namespace ask Visibility ten times a second, and a burst of starts would stand still.
   */
  async of(locks: readonly string[], until: Deadline = Infinity): Promise<ReadonlyMap<string, string>> {
    const workflowIds = [...new Set(locks)];
    const held = await (workflowIds.length <= oneByOne
      ? this.described(workflowIds, until)
      : this.listed(workflowIds, until));
    const holders = held.map(async ({ workflowId, memo }) => ({
      workflowId,
      upgradeId: await this.payloads.field(memo, "upgradeId"),
    }));
    return new Map(
      (await Promise.all(holders)).flatMap(({ workflowId, upgradeId }) =>
        typeof upgradeId === "string" ? [[workflowId, upgradeId] as const] : [],
      ),
    );
  }

  private async described(workflowIds: readonly string[], until: Deadline): Promise<HeldLock[]> {
    const deadline = Math.min(Date.now() + this.callTimeout, until);
    const locks = workflowIds.map((workflowId) =>
      this.looks.share(workflowId, async () => {
        const lock = await describeExecution(this.client, { workflowId }, deadline);
        return lock?.status === "RUNNING" ? [{ workflowId, memo: lock.memo }] : [];
      }),
    );
    return (await Promise.all(locks)).flat();
  }

  private async listed(workflowIds: readonly string[], until: Deadline): Promise<HeldLock[]> {
    const held: HeldLock[] = [];
    for (const some of chunksOf(namesPerQuery)(workflowIds)) {
      for (const { execution, memo } of await this.visibility.read(locksQuery(some), 0, namesPerQuery, until))
        if (execution?.workflowId) held.push({ workflowId: execution.workflowId, memo });
    }
    return held;
  }
}

/** The upgrade that runs the Workflow of this ID and so holds its resource; nothing where nobody does. */
export async function readHolder(client: Client, workflowId: string): Promise<LockHolder> {
  const payloads = new PayloadReader(client.options.loadedDataConverter);
  const lock = await describeExecution(client, { workflowId }, Date.now() + timeout);
  if (lock?.status !== "RUNNING") return {};
  const upgradeId = await payloads.field(lock.memo, "upgradeId");
  if (typeof upgradeId !== "string") return {};
  const holder = await describeExecution(client, { workflowId: upgradeId }, Date.now() + timeout);
  const upgrade = Upgrade.decode(await payloads.field(holder?.memo, "upgrade"));
  const isDeciding = isRight(upgrade) && !(holder?.status === "RUNNING" && keeping.has(upgrade.right.status));
  return { upgradeId, ...(isDeciding && { isDeciding }) };
}
