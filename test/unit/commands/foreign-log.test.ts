import { ApplicationFailure } from "@temporalio/common";
import type { LogEntry } from "@temporalio/worker";
import { expect } from "chai";
import { pino } from "pino";
import { createSdkLog, createServerLog } from "../../../src/commands/foreign-log";

interface Written extends Readonly<Record<string, unknown>> {
  readonly level: number;
  readonly msg: string;
}

/** A log, and what is written to it. */
function logOf() {
  const lines: Written[] = [];
  const log = pino({ level: "debug" }, { write: (line) => void lines.push(JSON.parse(line) as Written) });
  const told = () => lines.map(({ level, msg }) => [level, msg]);
  return { log, lines, told };
}

describe("what the embedded Temporal server writes", () => {
  const full = (more = {}) => JSON.stringify({ level: "error", msg: "failed", error: "disk is full (13)", ...more });

  it("is told once where it comes again and again, with its cause and how often it came", () => {
    const { log, lines, told } = logOf();
    const server = createServerLog(log);
    for (let i = 0; i <= 512; i++) server.write(full({ "shard-id": i % 4 }));
    server.write(full({ error: "no such table" }));
    server.end();
    expect(told()).to.deep.equal([
      [50, "failed"],
      [50, "failed"],
      [50, "failed (repeated 512 times)"],
    ]);
    expect(lines.map(({ error }) => error)).to.deep.equal(["disk is full (13)", "no such table", "disk is full (13)"]);
    expect(lines.at(-1)).to.include({ repeated: 512 });
  });

  it("is no warning where it warns of its own parts, and is kept where it is no JSON", () => {
    const { log, told } = logOf();
    const server = createServerLog(log);
    server.write('{"level":"warn","msg":"a part is not there yet"}');
    server.write("panic: of a kind");
    server.end();
    expect(told()).to.deep.equal([
      [30, "a part is not there yet"],
      [20, "panic: of a kind"],
    ]);
  });
});

describe("what Temporal's SDK writes", () => {
  const entry = (message: string, meta: LogEntry["meta"] = {}, level: LogEntry["level"] = "WARN"): LogEntry => ({
    level,
    message,
    timestampNanos: 0n,
    meta,
  });

  it("is told once where its engine says it again and again, whatever numbers it gives", () => {
    const { log, lines, told } = logOf();
    const sdk = createSdkLog(log);
    const retried = (times: number, error = "Unavailable") =>
      entry(`gRPC call retried ${times} times`, { sdkComponent: "core", error });
    for (let times = 6; times < 10; times++) sdk.write(retried(times));
    sdk.write(retried(10, "another"));
    sdk.end();
    expect(told()).to.deep.equal([
      [40, "gRPC call retried 6 times"],
      [40, "gRPC call retried 10 times"],
      [40, "gRPC call retried 9 times (repeated 3 times)"],
    ]);
    expect(lines[0]).to.include({ sdkComponent: "core", error: "Unavailable" });
  });

  it("is told each time where it is of a Workflow or an Activity, and with less noise where the Activity has told it", () => {
    const { log, lines, told } = logOf();
    const sdk = createSdkLog(log);
    const error = ApplicationFailure.nonRetryable("No.");
    for (let i = 0; i < 2; i++) sdk.write(entry("Activity waits", { sdkComponent: "activity", taskId: "u" }));
    sdk.write(entry("Activity failed", { sdkComponent: "worker", error }));
    sdk.end();
    expect(told()).to.deep.equal([
      [40, "Activity waits"],
      [40, "Activity waits"],
      [20, "Activity failed"],
    ]);
    expect(lines[0]).to.include({ taskId: "u" });
    expect(lines[2]?.["err"]).to.include({ message: "No." });
  });
});
