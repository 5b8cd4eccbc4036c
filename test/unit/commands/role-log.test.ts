import { expect } from "chai";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import { copyToLog } from "../../../src/commands/role-log";

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

  for (const [name, line] of [
    ["plain", "2026-12-01T09:00:00.123456Z  WARN temporalio_client::retry: gRPC call failed error=Unavailable"],
    [
      "coloured",
      "\u001b[2m2026-12-01T09:00:00.123456Z\u001b[0m \u001b[33m WARN\u001b[0m \u001b[2mtemporalio_client::retry\u001b[0m\u001b[2m:\u001b[0m gRPC call failed \u001b[3merror\u001b[0m\u001b[2m=\u001b[0mUnavailable",
    ],
  ] as const)
    it(`takes a ${name} warning of the SDK's engine for a warning`, async () => {
      const { entries, shown } = await copied(line);
      const msg = "temporalio_client::retry: gRPC call failed error=Unavailable";
      expect(entries).to.deep.equal([
        { level: 40, time: Date.parse("2026-12-01T09:00:00.123Z"), msg, sdkComponent: "core" },
      ]);
      expect(shown).to.deep.equal([[`worker WARN ${msg}`, 40]]);
    });

  it("takes errors of the engine for errors, and shows nothing of what is less than a warning", async () => {
    const { entries, shown } = await copied(
      "2026-12-01T09:00:00Z ERROR temporalio_sdk_core: lost",
      "2026-12-01T09:00:00Z  INFO temporalio_sdk_core: begun",
    );
    expect(entries.map(({ level }) => level)).to.deep.equal([50, 30]);
    expect(shown.map(([, level]) => level)).to.deep.equal([50]);
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
