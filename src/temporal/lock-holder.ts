import type { Client } from "@temporalio/client";
import { chunksOf } from "fp-ts/ReadonlyArray";
import type { LockHolder } from "../../activities/contract";
import { CoalescedCalls } from "../coalesced-calls";
import { type HoldingUpgrade, LockState } from "../domain/resource-lock";
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
type Holder = readonly [lock: string, holder: HoldingUpgrade | undefined];

/** Finds out who holds locks, for whoever refuses early what would fail later. */
export class LockHolders {
  private readonly payloads: PayloadReader;
  private readonly looks = new CoalescedCalls<HoldingUpgrade | undefined>();

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
  async of(locks: readonly string[], until: Deadline = Infinity): Promise<ReadonlyMap<string, HoldingUpgrade>> {
    const workflowIds = [...new Set(locks)];
    const holders = await (workflowIds.length <= oneByOne
      ? this.described(workflowIds, until)
      : this.listed(workflowIds, until));
    return new Map(holders.flatMap(([lock, holder]) => (holder === undefined ? [] : [[lock, holder] as const])));
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
          await holderIn(this.payloads, memo, parentExecution?.workflowId ?? undefined),
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
    const holder = await holderOf(client, payloads, workflowId, deadline);
    if (holder === undefined) return {};
    const { upgradeId } = holder;
    const upgrade = await describeWorkflow(client, { workflowId: upgradeId }, deadline);
    if (upgrade?.status === "RUNNING") return { ...holder, state: await lockStateIn(payloads, upgrade.memo) };
    // It may have released the lock before it ended, between the two looks. What it has left running holds the lock.
    const still = await holderOf(client, payloads, workflowId, deadline);
    if (still?.upgradeId === upgradeId) return { ...holder, state: "HELD" };
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
): Promise<HoldingUpgrade | undefined> {
  const lock = await describeWorkflow(client, { workflowId }, deadline);
  return lock?.status === "RUNNING" ? holderIn(payloads, lock.memo, lock.parent) : undefined;
}

/** The upgrade of a resource's Workflow: its parent, which can be read without the key of its payloads, or what its memo says. */
async function holderIn(
  payloads: PayloadReader,
  memo: Memo,
  parent: string | undefined,
): Promise<HoldingUpgrade | undefined> {
  const upgradeId = parent ?? textOf(await payloads.field(memo, "upgradeId"));
  if (upgradeId === undefined) return undefined;
  const nameIn = (field: string) => payloads.field(memo, field).then(textOf, () => undefined);
  const [upgradeName, resourceName] = [await nameIn("upgradeName"), await nameIn("resourceName")];
  return {
    upgradeId,
    ...(upgradeName !== undefined && { upgradeName }),
    ...(resourceName !== undefined && { resourceName }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
