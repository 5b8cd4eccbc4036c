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
    return copiedOf("worker", lines);
  }
  async function copiedOf(role: "worker" | "temporal", lines: string[]) {
    const [output, shown] = [new PassThrough(), [] as [string, number][]];
    const file = createWriteStream(join(folder, "worker.log"));
    await once(file, "open");
    copyToLog(role, output, file, (line, level) => shown.push([line.replace(/^\S+ /, ""), level]));
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

  it("tells what Temporal's server says again and again once, with its cause and how often it came", async () => {
    const full = (time: number, fields = {}) =>
      JSON.stringify({
        level: 50,
        time,
        role: "temporal",
        error: "database or disk is full (13)",
        ...fields,
        msg: "failed",
      });
    const lines = Array.from({ length: 512 }, (_, i) => full(i, { "shard-id": i % 4 }));
    const { entries, shown } = await copiedOf("temporal", [...lines, full(600, { error: "no such table" }), full(601)]);
    expect(entries.map(({ time, msg, error }) => [time, msg, error])).to.deep.equal([
      [0, "failed", "database or disk is full (13)"],
      [600, "failed", "no such table"],
      [601, "failed (repeated 512 times)", "database or disk is full (13)"],
    ]);
    expect(entries.at(-1)).to.include({ repeated: 512, level: 50 });
    expect(shown.map(([line]) => line)).to.deep.equal([
      "temporal ERROR failed (database or disk is full (13))",
      "temporal ERROR failed (no such table)",
      "temporal ERROR failed (repeated 512 times) (database or disk is full (13))",
    ]);
  });

  it("does the same with the SDK's engine, and leaves out no line of our own", async () => {
    const ofEngine = "2026-12-01T09:00:00Z ERROR temporalio_sdk_core: lost";
    const own = '{"level":50,"time":1,"role":"worker","msg":"failed"}';
    const { entries } = await copied(ofEngine, own, ofEngine, own, ofEngine);
    expect(entries.map(({ msg }) => msg)).to.deep.equal([
      "temporalio_sdk_core: lost",
      "failed",
      "failed",
      "temporalio_sdk_core: lost (repeated 2 times)",
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
