import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { attributesOf, type HistoryJson, type WorkflowRun } from "./history-json";

/** Where histories are stored, in one folder for each recording: `FOLDER/STORY.upgrade.json`, `FOLDER/STORY.cluster-1.json`. */
export const historiesFolder = resolve(__dirname, "histories");

/** A run of a Workflow as an earlier build has left it. */
export interface StoredHistory extends WorkflowRun {
  /** The recording, such as `0.1.0`. */
  readonly folder: string;
  readonly story: string;
  /** `upgrade`, `notify` for the run that tells its receivers, or `cluster-N` for the run of a resource (a cluster or a server), numbered in the order of their starts. */
  readonly part: string;
  readonly history: HistoryJson;
  readonly workflowType: string;
}

/** Every stored history, in the order of their names. Throws where a file is not one. */
export function storedHistories(): StoredHistory[] {
  if (!existsSync(historiesFolder)) return [];
  return readdirSync(historiesFolder)
    .sort()
    .flatMap((folder) =>
      readdirSync(join(historiesFolder, folder))
        .sort()
        .map((file) => storedHistory(folder, file)),
    );
}

function storedHistory(folder: string, file: string): StoredHistory {
  const [, story, part] = /^([\w-]+)\.(upgrade|notify|cluster-\d+)\.json$/.exec(file) ?? [];
  const history = JSON.parse(readFileSync(join(historiesFolder, folder, file), "utf8")) as HistoryJson;
  const started = attributesOf(history.events[0]) as Partial<Started>;
  const { workflowType, workflowId, originalExecutionRunId: runId } = started;
  if (!story || !part || !workflowType || !workflowId || !runId) throw new Error(`${folder}/${file} is no history`);
  return { folder, story, part, history, workflowType: workflowType.name, workflowId, runId };
}

/** What a history's first event says of its run. */
interface Started {
  readonly workflowType: { readonly name: string };
  readonly workflowId: string;
  readonly originalExecutionRunId: string;
}
