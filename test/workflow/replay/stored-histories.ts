import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { attributesOf, type HistoryJson, type WorkflowRun } from "./history-json";

/** Where histories are stored, in one folder for each recording: `FOLDER/STORY.upgrade.json`, `FOLDER/STORY.cluster-1.json`. */
export const historiesFolder = resolve(__dirname, "histories");

/** What a history is called. */
interface HistoryName {
  /** The recording: `before-1.0`, from then on the release, or what `--as` has named. */
  readonly folder: string;
  readonly story: string;
  /** `upgrade`, `notify` for the run that tells its receivers, `readiness` for that of a readiness check, `freeze` or `hold` for that of one, or `cluster-N` for the run of a resource (a cluster or a server), numbered in the order of their starts. */
  readonly part: string;
}

/** A run of a Workflow, as it was when it was recorded. */
export interface StoredHistory extends HistoryName, WorkflowRun {
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
        .map((file) => readHistory(folder, file)),
    );
}

function readHistory(folder: string, file: string): StoredHistory {
  const [, story, part] = /^([\w-]+)\.(upgrade|notify|readiness|freeze|hold|cluster-\d+)\.json$/.exec(file) ?? [];
  if (!story || !part) throw new Error(`${folder}/${file} is not named as a history is`);
  const history = JSON.parse(readFileSync(join(historiesFolder, folder, file), "utf8")) as HistoryJson;
  return storedHistory({ folder, story, part }, history);
}

/** The history with what it says of its run. Throws where it does not begin as one does. */
export function storedHistory(name: HistoryName, history: HistoryJson): StoredHistory {
  const started = attributesOf(history.events[0]) as Partial<Started>;
  const { workflowType, workflowId, originalExecutionRunId: runId } = started;
  if (!workflowType || !workflowId || !runId) throw new Error(`${Object.values(name).join(" ")} is no history`);
  return { ...name, history, workflowType: workflowType.name, workflowId, runId };
}

/** What a history's first event says of its run. */
interface Started {
  readonly workflowType: { readonly name: string };
  readonly workflowId: string;
  readonly originalExecutionRunId: string;
}
