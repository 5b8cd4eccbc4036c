import type { Client } from "@temporalio/client";
import { isRight } from "fp-ts/Either";
import type { LockHolder } from "../../activities/contract";
import { Upgrade } from "../domain/upgrade";
import type { UpgradeStatus } from "../domain/upgrade-status";
import { describeExecution } from "./described-execution";
import { PayloadReader } from "./memo";

/** How long Temporal may take to answer, in milliseconds. */
const timeout = 5000;

/** The statuses of an upgrade that has decided to keep its locks; with any other it takes them, or gives them back. */
const keeping: ReadonlySet<UpgradeStatus | undefined> = new Set<UpgradeStatus>(["SCHEDULED", "INPROGRESS", "PAUSED"]);

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
