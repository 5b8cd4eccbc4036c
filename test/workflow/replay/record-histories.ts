/**
 * Records the histories that the replay suite replays, from the Workflows as they are now:
 *
 *     node --import tsx test/workflow/replay/record-histories.ts [--as FOLDER] [STORY...]
 *
 * Tells the named stories, or all of them, and writes the histories of the upgrade and of its resources below
 * `histories/FOLDER`. Before version 1.0.0 the histories that are there are replaced, and those of stories that are gone
 * are removed. From 1.0.0 on they stay, each release has a folder of its own, and `--as` names one more where a patch has
 * a story told again (docs/deploys.md).
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { version } from "../../../package.json";
import type { HistoryJson } from "./history-json";
import { recordingOf, recordStory, storiesToTell } from "./recording";
import { stories } from "./stories";
import { historiesFolder, storedHistories, type StoredHistory } from "./stored-histories";

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { as: { type: "string", default: recordingOf(version) } },
    allowPositionals: true,
  });
  const folder = join(historiesFolder, values.as);
  const stored = storedHistories().filter((one) => one.folder === values.as);
  const names = storiesToTell(version, {
    all: Object.keys(stories),
    asked: positionals,
    stored: stored.map(({ story }) => story),
  });
  mkdirSync(folder, { recursive: true });
  stored.filter(({ story }) => !(story in stories)).forEach((history) => rmSync(fileOf(folder, history)));
  for (const name of names) {
    const histories = await recordStory(name, stories[name]!);
    stored.filter(({ story }) => story === name).forEach((history) => rmSync(fileOf(folder, history)));
    for (const [part, history] of histories) write(fileOf(folder, { story: name, part }), history);
    process.stdout.write(`${name}\n`);
  }
  process.stdout.write(`${names.length} stories recorded\n`);
}

function fileOf(folder: string, { story, part }: Pick<StoredHistory, "story" | "part">): string {
  return join(folder, `${story}.${part}.json`);
}

/** One event a line: compact, and a change shows where it is. */
function write(file: string, { events }: HistoryJson): void {
  writeFileSync(file, `{"events":[\n${events.map((event) => JSON.stringify(event)).join(",\n")}\n]}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
