import { upsertMemo, workflowInfo } from "@temporalio/workflow";
import type { ResourceMemo, UpgradeMemo } from "./messages";

/**
 * Writes what readers without a worker see, and keeps in the Workflow what is short. With each line of its log the SDK
 * copies all that it knows of a Workflow to another thread, three times: of a cluster of 64 hosts the memo alone is 80 KB.
 */
export function writeMemo(memo: UpgradeMemo | ResourceMemo): void {
  upsertMemo({ ...memo });
  const info = workflowInfo();
  const short = Object.entries(info.memo ?? {}).filter(([, value]) => typeof value !== "object");
  // Where the SDK should not let this through one day, logging costs more, and nothing else changes.
  Reflect.set(info, "memo", Object.fromEntries(short));
}
