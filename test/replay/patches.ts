import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { WorkflowBundleOption } from "@temporalio/worker";
import ts from "typescript";
import { type HistoryJson, markerDetails } from "./history-json";
import { productionBundlePath } from "./replay";
import { workflowSources } from "./workflow-sources";

const root = resolve(__dirname, "../..");

/** The ids of all `patched()` and `deprecatePatch()` in the Workflows. Throws where one is not written out as a string. */
export async function patchIds(): Promise<string[]> {
  const { files } = await workflowSources();
  const ids = Object.keys(files).flatMap((path) => patchIdsOf(readFileSync(resolve(root, path), "utf8"), path));
  return [...new Set(ids)].sort();
}

/** Those of one file. */
export function patchIdsOf(code: string, path: string): string[] {
  const ids: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /(^|\.)(patched|deprecatePatch)$/.test(node.expression.getText())) {
      const [id] = node.arguments;
      if (!id || !ts.isStringLiteral(id)) throw new Error(`${path}: the id of a patch is to be written out`);
      ids.push(id.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, code, ts.ScriptTarget.ES2022, true));
  return ids;
}

/** The ids of the patches whose new side a run has taken: of each, Temporal keeps a marker in the history. */
export function patchesIn({ events }: HistoryJson): string[] {
  return events.flatMap((event) =>
    (markerDetails(event, "core_patch", "patch-data") as { readonly id: string }[]).map(({ id }) => id),
  );
}

/**
 * The bundle of production, but one patch always takes this side, whatever the history says. Histories that need the
 * other side do not replay with it.
 */
export async function bundleWithSide(id: string, side: "new" | "old"): Promise<WorkflowBundleOption> {
  const code = readFileSync(await productionBundlePath(), "utf8");
  const call = new RegExp(`\\(0, ?\\w+\\.patched\\)\\("${id}"\\)`, "g");
  if (!call.test(code)) throw new Error(`The bundle has no patched("${id}")`);
  return { code: code.replace(call, (asked) => (side === "new" ? `(${asked} || true)` : `(${asked} && false)`)) };
}
