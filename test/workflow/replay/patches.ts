import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { WorkflowBundle } from "@temporalio/worker";
import ts from "typescript";
import { type HistoryJson, markerDetails } from "./history-json";
import { replayAll } from "./replay";
import type { StoredHistory } from "./stored-histories";
import { workflowSources } from "./workflow-sources";

const root = resolve(__dirname, "../../..");

/** One of the two ways that a Workflow can take at a `patched()`. */
export type Side = "new" | "old";

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
 * Which sides of a patch no history holds; none where both are held. The new side is held where every history that has
 * its marker breaks on the old side, the old side where a history without the marker breaks on the new one.
 */
export async function sidesNotHeld(
  id: string,
  bundle: WorkflowBundle,
  histories: readonly StoredHistory[],
): Promise<Side[]> {
  const hasMarker = ({ history }: StoredHistory) => patchesIn(history).includes(id);
  const [marked, others] = [histories.filter(hasMarker), histories.filter((history) => !hasMarker(history))];
  const onOldSide = await brokenWith(withSide(bundle, id, "old"), marked);
  const onNewSide = await brokenWith(withSide(bundle, id, "new"), others);
  return [
    ...(marked.length === 0 || onOldSide < marked.length ? (["new"] as const) : []),
    ...(onNewSide === 0 ? (["old"] as const) : []),
  ];
}

/** How many of these histories do not replay. */
async function brokenWith(bundle: WorkflowBundle, histories: readonly StoredHistory[]): Promise<number> {
  const results = await replayAll(bundle, histories);
  return [...results.values()].filter((error) => error !== undefined).length;
}

/** The bundle, but one patch always takes this side, whatever the history says. */
function withSide({ code, ...bundle }: WorkflowBundle, id: string, side: Side): WorkflowBundle {
  const call = new RegExp(`\\(0, ?\\w+\\.patched\\)\\("${id}"\\)`, "g");
  if (!call.test(code)) throw new Error(`The bundle has no patched("${id}")`);
  const forced = side === "new" ? "|| true" : "&& false";
  return { ...bundle, code: code.replace(call, (asked) => `(${asked} ${forced})`) };
}
