import type { LogEntry } from "@temporalio/worker";
import type { Logger } from "pino";
import { RepeatedLines } from "./repeated-lines";

/** A log of another program that a role writes into its own. */
export interface ForeignLog<Line> {
  write(line: Line): void;
  /** Tells what has been counted and not told; no more lines come. */
  end(): void;
}

interface Entry {
  readonly level: "trace" | "debug" | "info" | "warn" | "error";
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Lines that come again and again are told once, and then with their number: those of one level, message and cause. */
function foldInto(log: Logger): RepeatedLines<Entry> {
  return new RepeatedLines(({ level, msg, fields }, times) =>
    times === 0
      ? log[level](fields, msg)
      : log[level]({ ...fields, repeated: times }, `${msg} (repeated ${times} times)`),
  );
}

function add(folded: RepeatedLines<Entry>, entry: Entry): void {
  const { level, msg, fields } = entry;
  const { error } = fields;
  const cause = typeof error === "string" ? error : "";
  // Numbers apart: they count the tries of a call, or name the part that makes it.
  folded.add(`${level} ${msg} ${cause}`.replace(/\d+/g, "#"), entry);
}

/** The server warns of connections between its own parts whenever it starts or stops: nothing for an operator to do. */
const serverLevels = { warn: "info", error: "error", fatal: "error" } as const;

/** Lines of the embedded Temporal server: its own JSON, which has named levels, or plain text. */
export function createServerLog(log: Logger): ForeignLog<string> {
  const folded = foldInto(log);
  return {
    write: (line) => {
      let entry: Record<string, unknown>;
      try {
        entry = JSON.parse(line) as Record<string, unknown>;
      } catch {
        log.debug(line);
        return;
      }
      const { level, msg, time: _, ...fields } = entry;
      const name = String(level).toLowerCase();
      const own = name in serverLevels ? serverLevels[name as keyof typeof serverLevels] : "debug";
      add(folded, { level: own, msg: String(msg), fields });
    },
    end: () => folded.end(),
  };
}

/** Failures of steps that the Activity itself has logged in its own words, and that the Task tells. */
const reportedAlready = new Set(["Activity failed", "Workflow failed"]);

const sdkLevels = { TRACE: "trace", DEBUG: "debug", INFO: "info", WARN: "warn", ERROR: "error" } as const;

/**
 * Entries of Temporal's SDK, with their own fields. Only those of its engine are folded: the others are lines of Workflows
 * and Activities, each of which tells of another step.
 */
export function createSdkLog(log: Logger): ForeignLog<LogEntry> {
  const folded = foldInto(log);
  return {
    write: ({ level, message, meta }) => {
      const { sdkComponent, workflowId, error, ...others } = (meta ?? {}) as Readonly<Record<string, unknown>>;
      const fields = { ...others, sdkComponent, workflowId };
      if (sdkComponent === "core") {
        add(folded, {
          level: sdkLevels[level],
          msg: message,
          fields: { ...fields, ...(error !== undefined && { error }) },
        });
        return;
      }
      const own = reportedAlready.has(message) ? "debug" : sdkLevels[level];
      log[own]({ ...fields, ...(error !== undefined && { err: error }) }, message);
    },
    end: () => folded.end(),
  };
}
