/**
 * Records the histories that the replay suite replays, from the Workflows as they are now:
 *
 *     node --import tsx test/replay/record-histories.ts [--as FOLDER] [--build NAME] [--replace] [--traced] [STORY...]
 *
 * Tells the named stories, or all of them, and writes the history of the upgrade and of each of its clusters below
 * `histories/FOLDER`, by default the version of package.json. Files that are there are kept: they are what older code
 * has done, and no newer code does it again. `--build` records what a stored older build does (older-builds.ts), which
 * may come to another end. `--traced` tells them to a worker with tracing switched on. `--replace` is for a recording
 * that went wrong before it was committed.
 */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { version } from "../../package.json";
import { eventually } from "../support/eventually";
import type { RunningUpgrade } from "../support/running-upgrade";
import { olderBuild } from "../support/older-builds";
import { UpgradeBench } from "../support/upgrade-bench";
import { temporalCli } from "../support/workflow-environment";
import {
  attributesOf,
  childRuns,
  endOf,
  type HistoryEventJson,
  type HistoryJson,
  type WorkflowRun,
} from "./history-json";
import { neutralHistory } from "./neutral-history";
import { stories } from "./stories";
import type { Story } from "./story";
import { historiesFolder, storedHistories } from "./stored-histories";

const run = promisify(execFile);
const storyMilliseconds = 60_000;
const cli = temporalCli();

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      as: { type: "string", default: version },
      build: { type: "string" },
      replace: { type: "boolean", default: false },
      traced: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const stored = new Set(
    storedHistories()
      .filter(({ folder }) => folder === values.as)
      .map(({ story }) => story),
  );
  const wanted = Object.entries(stories).filter(
    ([name]) => (positionals.length === 0 || positionals.includes(name)) && (values.replace || !stored.has(name)),
  );
  const unknown = positionals.filter((name) => !(name in stories));
  if (unknown.length > 0) throw new Error(`No such story: ${unknown.join(", ")}`);
  const { traced, build } = values;
  const folder = join(historiesFolder, values.as);
  for (const [name, story] of wanted) await record(name, story, { folder, traced, build });
  process.stdout.write(`${wanted.length} stories recorded\n`);
}

/** Tells a story on a server of its own, because time that is skipped is skipped for all. */
async function record(
  name: string,
  story: Story,
  { folder, traced, build }: { folder: string; traced: boolean; build: string | undefined },
): Promise<void> {
  const bench = await UpgradeBench.start(story.server ?? "DEV_SERVER", story.settings, traced);
  try {
    if (build !== undefined) {
      await bench.stopWorker();
      await bench.startWorker({ bundle: olderBuild(build) });
    }
    const { handle } = await told(bench, name, story);
    const { runId } = await handle.describe();
    const upgrade = await settledHistory(bench, { workflowId: handle.workflowId, runId });
    if (build === undefined && endOf(upgrade) !== story.ends)
      throw new Error(`${name} ended as ${endOf(upgrade)}, not as ${story.ends}`);
    const children = childRuns(upgrade);
    const isNotify = ({ workflowId }: WorkflowRun) => workflowId.startsWith("notify/");
    const [notify] = await Promise.all(children.filter(isNotify).map((child) => settledHistory(bench, child)));
    const resources = children.filter((child) => !isNotify(child));
    const clusters = await Promise.all(resources.map((child) => settledHistory(bench, child)));
    mkdirSync(folder, { recursive: true });
    write(join(folder, `${name}.upgrade.json`), upgrade);
    if (notify) write(join(folder, `${name}.notify.json`), notify);
    clusters.forEach((history, n) => write(join(folder, `${name}.cluster-${n + 1}.json`), history));
    process.stdout.write(`${name}\n`);
  } finally {
    await bench.clean();
    await bench.stop();
  }
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
    const { stdout } = await run(cli, [...args, "--address", bench.env.address], { maxBuffer: 64 * 1024 * 1024 });
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

/** One event a line: compact, and a change shows where it is. */
function write(file: string, { events }: HistoryJson): void {
  writeFileSync(file, `{"events":[\n${events.map((event) => JSON.stringify(event)).join(",\n")}\n]}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
