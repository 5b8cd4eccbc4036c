import { execFile } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { eventually } from "../../support/eventually";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { UpgradeBench } from "../../support/upgrade-bench";
import { temporalCli, type WorkerBuild } from "../../support/workflow-environment";
import {
  attributesOf,
  childRuns,
  endOf,
  type HistoryEventJson,
  type HistoryJson,
  type WorkflowRun,
} from "./history-json";
import { neutralHistory } from "./neutral-history";
import { isReleased } from "./released";
import type { Story } from "./story";

const run = promisify(execFile);
const storyMilliseconds = 60_000;

/** The folder of `histories` for what this version records: one for each release, and one for all that comes before 1.0.0. */
export function recordingOf(version: string): string {
  return isReleased(version) ? version : "before-1.0";
}

/**
 * Which stories to tell, of all that there are. `asked`: by name, none for all; `stored`: those that the recording has.
 * Before 1.0.0 every one, stored or not. From then on only what is not stored: a stored history says what a released
 * build has done. Throws where a name is unknown, or names what may not be recorded again.
 */
export function storiesToTell(
  version: string,
  { all, asked, stored }: Readonly<Record<"all" | "asked" | "stored", readonly string[]>>,
): string[] {
  const unknown = asked.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`No such story: ${unknown.join(", ")}`);
  if (!isReleased(version)) return asked.length > 0 ? [...asked] : [...all];
  const again = asked.filter((name) => stored.includes(name));
  if (again.length > 0)
    throw new Error(
      `Stored already, and says what a released build has done: ${again.join(", ")}. Record it beside: --as NAME.`,
    );
  return (asked.length > 0 ? asked : all).filter((name) => !stored.includes(name));
}

/**
 * Tells a story to a worker of this build, or of another one, on a server of its own, because time that is skipped is
 * skipped for all. Gives the history of each Workflow, by its part (see `StoredHistory.part`). Throws where the upgrade
 * ends otherwise than the story says.
 */
export async function recordStory(
  name: string,
  story: Story,
  build?: WorkerBuild,
): Promise<ReadonlyMap<string, HistoryJson>> {
  const bench = await UpgradeBench.start(story.server ?? "DEV_SERVER", story.settings);
  try {
    if (build) {
      await bench.stopWorker();
      await bench.startWorker(build);
    }
    const { handle } = await told(bench, name, story);
    const { runId, raw } = await handle.describe();
    const firstRunId = raw.workflowExecutionInfo?.firstRunId ?? runId;
    const recorded = { workflowId: handle.workflowId, runId: story.ends === "CONTINUED_AS_NEW" ? firstRunId : runId };
    const upgrade = await settledHistory(bench, recorded);
    if (endOf(upgrade) !== story.ends) throw new Error(`${name} ended as ${endOf(upgrade)}, not as ${story.ends}`);
    const children = childRuns(upgrade);
    const isNotify = ({ workflowId }: WorkflowRun) => workflowId.startsWith("notify/");
    const [notify] = await Promise.all(children.filter(isNotify).map((child) => settledHistory(bench, child)));
    const resources = children.filter((child) => !isNotify(child));
    const clusters = await Promise.all(resources.map((child) => settledHistory(bench, child)));
    const freeze = story.freeze === undefined ? undefined : await latestRun(bench, story.freeze);
    const hold = story.hold === undefined ? undefined : await latestRun(bench, story.hold);
    const readiness = story.readiness === undefined ? undefined : await latestRun(bench, story.readiness);
    return new Map([
      ["upgrade", upgrade],
      ...(freeze ? [["freeze", await settledHistory(bench, freeze)] as const] : []),
      ...(hold ? [["hold", await settledHistory(bench, hold)] as const] : []),
      ...(readiness ? [["readiness", await settledHistory(bench, readiness)] as const] : []),
      ...(notify ? [["notify", notify] as const] : []),
      ...clusters.map((history, n) => [`cluster-${n + 1}`, history] as const),
    ]);
  } finally {
    await bench.clean();
    await bench.stop();
  }
}

async function latestRun(bench: UpgradeBench, workflowId: string): Promise<WorkflowRun> {
  const { runId } = await bench.env.client.workflow.getHandle(workflowId).describe();
  return { workflowId, runId };
}

/** A story that does not come to its end shows where it stands. */
async function told(bench: UpgradeBench, name: string, story: Story): Promise<RunningUpgrade> {
  const limit = new AbortController();
  const stuck = setTimeout(storyMilliseconds, undefined, { signal: limit.signal }).then(async () => {
    throw new Error(`${name} does not end\n${await bench.explain()}`);
  });
  try {
    return await Promise.race([story.tell(bench), stuck]);
  } finally {
    limit.abort();
  }
}

/** The history of a run once nothing more happens in it by itself, as the Temporal CLI exports it. */
async function settledHistory(bench: UpgradeBench, { workflowId, runId }: WorkflowRun): Promise<HistoryJson> {
  const args = ["workflow", "show", "--workflow-id", workflowId, "--run-id", runId, "--output", "json"];
  const show = async (): Promise<HistoryJson> => {
    const { stdout } = await run(temporalCli(), [...args, "--address", bench.env.address], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return JSON.parse(stdout) as HistoryJson;
  };
  const history = await eventually(show, ({ events }) => !workIsDue(events));
  return withWorkflowId(neutralHistory(history), workflowId);
}

/** Whether a Workflow Task is still to come or to end: an event since the last one that ended has made it due. */
function workIsDue(events: readonly HistoryEventJson[]): boolean {
  const last = events.at(-1)?.eventType ?? "";
  return /_(WORKFLOW_TASK_SCHEDULED|WORKFLOW_TASK_STARTED|WORKFLOW_EXECUTION_SIGNALED)$/.test(last);
}

/** The time-skipping server leaves the Workflow ID out, which a history can be replayed without but not named. */
function withWorkflowId({ events: [first, ...rest] }: HistoryJson, workflowId: string): HistoryJson {
  if (!first) throw new Error(`${workflowId} has no history`);
  const started = { ...attributesOf(first), workflowId };
  return { events: [{ ...first, workflowExecutionStartedEventAttributes: started }, ...rest] };
}
