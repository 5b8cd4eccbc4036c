import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import { expect } from "chai";
import { copyToLog } from "../../../src/commands/role-process";

describe("the log of a role", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "role-log-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** What lines of output become in the log, and what is shown of them with its level. */
  async function copied(...lines: string[]) {
    const [output, shown] = [new PassThrough(), [] as [string, number][]];
    const file = createWriteStream(join(folder, "worker.log"));
    await once(file, "open");
    copyToLog("worker", output, file, (line, level) => shown.push([line.replace(/^\S+ /, ""), level]));
    output.end(lines.map((line) => `${line}\n`).join(""));
    await finished(output);
    await new Promise((resolve) => setImmediate(resolve));
    file.end();
    await finished(file);
    const entries = readFileSync(join(folder, "worker.log"), "utf8").trim().split("\n");
    return { entries: entries.map((line) => JSON.parse(line) as Record<string, unknown>), shown };
  }

  it("shows warnings and errors in one line each, with their cause, and nothing less", async () => {
    const entry = (level: number, more = {}) => JSON.stringify({ level, time: level, msg: "failed", ...more });
    const { shown } = await copied(entry(30), entry(40), entry(50, { error: "the disk is full" }));
    expect(shown).to.deep.equal([
      ["worker WARN failed", 40],
      ["worker ERROR failed (the disk is full)", 50],
    ]);
  });

  it("keeps our own lines, and takes the last words of a process for fatal", async () => {
    const { entries } = await copied(
      '{"level":30,"time":1,"msg":"ready"}',
      "Segmentation fault",
      "2026 WARN of a kind",
    );
    expect(entries.map(({ level, msg }) => [level, msg])).to.deep.equal([
      [30, "ready"],
      [60, "Segmentation fault"],
      [60, "2026 WARN of a kind"],
    ]);
  });
});
