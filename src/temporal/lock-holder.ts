import type { Client } from "@temporalio/client";
import { chunksOf } from "fp-ts/ReadonlyArray";
import type { LockHolder } from "../../activities/contract";
import { CoalescedCalls } from "../coalesced-calls";
import { LockState } from "../domain/resource-lock";
import type { Deadline } from "../upgrades/ports";
import { describeWorkflow, type Memo, PayloadReader, readAs } from "./describe-workflow";
import { locksQuery, type VisibilityReader } from "./visibility";

/** How long Temporal may take to answer, in milliseconds. */
const timeout = 5000;

/** As many locks are looked at one by one, all at the same time; of more Visibility is asked. */
const oneByOne = 16;
/** Names in one filter; more would make it longer than Visibility takes. */
const namesPerQuery = 100;

/** A lock and the upgrade that holds it; undefined where nobody does. */
type Holder = readonly [lock: string, upgradeId: string | undefined];

/** Finds out who holds locks, for whoever refuses early what would fail later. */
export class LockHolders {
  private readonly payloads: PayloadReader;
  private readonly looks = new CoalescedCalls<string | undefined>();

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
   * server lets a namespace ask Visibility ten times a second, and a burst of starts would stand still (docs/decisions/0023).
   * Rejects with the error of gRPC where Temporal does not answer by `until`.
   */
  async of(locks: readonly string[], until: Deadline = Infinity): Promise<ReadonlyMap<string, string>> {
    const workflowIds = [...new Set(locks)];
    const holders = await (workflowIds.length <= oneByOne
      ? this.described(workflowIds, until)
      : this.listed(workflowIds, until));
    return new Map(
      holders.flatMap(([lock, upgradeId]) => (upgradeId === undefined ? [] : [[lock, upgradeId] as const])),
    );
  }

  private described(workflowIds: readonly string[], until: Deadline): Promise<Holder[]> {
    const deadline = Math.min(Date.now() + this.callTimeout, until);
    const look = (workflowId: string) => holderOf(this.client, this.payloads, workflowId, deadline);
    return Promise.all(workflowIds.map(async (id) => [id, await this.looks.share(id, () => look(id))] as const));
  }

  private async listed(workflowIds: readonly string[], until: Deadline): Promise<Holder[]> {
    const holders: Holder[] = [];
    for (const some of chunksOf(namesPerQuery)(workflowIds)) {
      for (const { execution, memo, parentExecution } of await this.visibility.read(
        locksQuery(some),
        0,
        namesPerQuery,
        until,
      ))
        holders.push([
          execution?.workflowId ?? "",
          parentExecution?.workflowId ?? (await upgradeIn(this.payloads, memo)),
        ]);
    }
    return holders;
  }
}

/** Who runs the Workflow of this ID and so holds its resource; nobody where it does not run. */
export async function readHolder(client: Client, workflowId: string): Promise<LockHolder> {
  const payloads = new PayloadReader(client.options.loadedDataConverter);
  const deadline = Date.now() + timeout;
  for (;;) {
    const upgradeId = await holderOf(client, payloads, workflowId, deadline);
    if (upgradeId === undefined) return {};
    const upgrade = await describeWorkflow(client, { workflowId: upgradeId }, deadline);
    if (upgrade?.status === "RUNNING") return { upgradeId, state: await lockStateIn(payloads, upgrade.memo) };
    // It may have released the lock before it ended, between the two looks. What it has left running holds the lock.
    if ((await holderOf(client, payloads, workflowId, deadline)) === upgradeId) return { upgradeId, state: "HELD" };
  }
}

/** How far an upgrade is with its locks, as its memo says; it says nothing before it has them. */
async function lockStateIn(payloads: PayloadReader, memo: Memo): Promise<LockState> {
  const stored: unknown = await payloads.field(memo, "locks").catch(() => "HELD");
  return readAs(LockState, stored) ?? "ACQUIRING";
}

async function holderOf(
  client: Client,
  payloads: PayloadReader,
  workflowId: string,
  deadline: number,
): Promise<string | undefined> {
  const lock = await describeWorkflow(client, { workflowId }, deadline);
  // The upgrade is its parent, which can be read without the key of its payloads.
  return lock?.status === "RUNNING" ? (lock.parent ?? upgradeIn(payloads, lock.memo)) : undefined;
}

/** The upgrade that the memo of a resource's Workflow names. */
async function upgradeIn(payloads: PayloadReader, memo: Memo): Promise<string | undefined> {
  const upgradeId = await payloads.field(memo, "upgradeId");
  return typeof upgradeId === "string" ? upgradeId : undefined;
}
