import { execFile } from "node:child_process";
import { createSecretKey, randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { promisify } from "node:util";
import type { DataConverter } from "@temporalio/common";
import { type ReplayWorkerOptions, Worker, type WorkflowBundle, type WorkflowBundleOption } from "@temporalio/worker";
import { payloadConversion } from "../../../src/temporal/payload-encryption";
import { bundleWith } from "../../support/workflow-environment";
import { historyFromJson } from "./history-from-json";
import type { StoredHistory } from "./stored-histories";

const root = resolve(__dirname, "../../..");

/** The bundle that production runs, built anew where its sources have changed. */
export async function productionBundle(name?: string): Promise<WorkflowBundleOption> {
  return { codePath: await productionBundlePath(name) };
}

/** Where that bundle is, once it has been built. */
export async function productionBundlePath(name = "workflow-bundle.js"): Promise<string> {
  await promisify(execFile)(process.execPath, ["scripts/build.mjs"], { cwd: root });
  return resolve(root, "dist", name);
}

/** Replays every history as a worker does that encrypts what it writes. */
export async function replayAllEncrypted(histories: readonly StoredHistory[]) {
  const key = { id: "of the test", key: createSecretKey(randomBytes(32)) };
  const conversion = payloadConversion([key], resolve(root, "dist/workflows/failure-converter.js"));
  return replayAll(await productionBundle("workflow-bundle-encrypted.js"), histories, conversion);
}

/** The Workflows as they are, changed by the interceptors of one file of `changes/`. */
export function changedBundle(change: string): Promise<WorkflowBundle> {
  return bundleWith(resolve(__dirname, "changes", `${change}.ts`));
}

/** Replays every history. Gives what went wrong, by run id; undefined for those that replay. */
export async function replayAll(
  bundle: WorkflowBundleOption,
  histories: readonly StoredHistory[],
  conversion: DataConverter = {},
): Promise<ReadonlyMap<string, Error | undefined>> {
  const options: ReplayWorkerOptions = {
    workflowBundle: bundle,
    dataConverter: { ...conversion, payloadConverterPath: resolve(root, "dist/workflows/payload-converter.js") },
  };
  const results = new Map<string, Error | undefined>();
  const decoded = histories.map(({ workflowId, history }) => ({ workflowId, history: historyFromJson(history) }));
  for await (const { runId, error } of Worker.runReplayHistories(options, decoded)) results.set(runId, error);
  return results;
}
