import { createWriteStream, renameSync, statSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { RoleName } from "./messages";
import { RepeatedLines } from "./repeated-lines";

/** A log file larger than this is set aside as `<role>.log.1` at the next start. */
const rotateBytes = 50 * 1024 * 1024;
/** The level from which on something is wrong. */
const warning = 40;
/** The level at which a role says why it ends. */
export const fatal = 60;

export const roleLogFile = (dataDir: string, role: RoleName): string => join(dataDir, "logs", `${role}.log`);

/** Opens the log of a role for appending. A disk that is full costs log lines, not the service. */
export function openRoleLog(dataDir: string, role: RoleName): WriteStream {
  const file = roleLogFile(dataDir, role);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > rotateBytes) renameSync(file, `${file}.1`);
  return createWriteStream(file, { flags: "a" }).on("error", () => undefined);
}

/**
 * Writes each line of a role's output to its log as a JSON line, and gives warnings and errors to `show`, one readable
 * line each. The engine of Temporal's SDK writes in a form of its own. What else is not JSON (the last words of a process
 * that crashed) becomes a fatal entry. What Temporal's server and the engine say again and again is told every ten seconds.
 */
export function copyToLog(
  role: RoleName,
  output: Readable,
  file: WriteStream,
  show: (line: string, level: number) => void,
): void {
  const write = (entry: Entry) => {
    file.write(`${JSON.stringify(entry)}\n`);
    if (entry.level >= warning) show(readable(role, entry), entry.level);
  };
  const repeated = new RepeatedLines<Entry>((entry, times) =>
    write(times === 0 ? entry : { ...entry, msg: `${entry.msg} (repeated ${times} times)`, repeated: times }),
  );
  createInterface({ input: output })
    .on("line", (line) => {
      if (line.trim() === "") return;
      const own = parseEntry(line);
      const ofEngine = own ? undefined : parseEngineLine(line);
      const entry = own ?? ofEngine ?? { level: fatal, time: Date.now(), role, msg: line };
      // Our own lines are never left out: each tells of another request or step.
      const isForeign = ofEngine !== undefined || role === "temporal";
      if (isForeign && entry.level >= warning && entry.level < fatal)
        repeated.add(JSON.stringify([entry.level, entry.msg, causeOf(entry)]), entry);
      else write(entry);
    })
    .on("close", () => repeated.end());
}

interface Entry {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
  readonly taskId?: string;
  readonly err?: { readonly message?: string };
  /** The cause of an error of Temporal's server. */
  readonly error?: unknown;
  /** How often it has come since it was last told. */
  readonly repeated?: number;
}

function causeOf({ err, error }: Entry): string | undefined {
  return err?.message ?? (typeof error === "string" ? error : undefined);
}

function parseEntry(line: string): Entry | undefined {
  try {
    const entry = JSON.parse(line) as Partial<Entry> | null;
    return typeof entry?.level === "number" && typeof entry.time === "number"
      ? ({ ...entry, msg: "", ...entry } as Entry)
      : undefined;
  } catch {
    return undefined;
  }
}

const engineLevels = { TRACE: 10, DEBUG: 20, INFO: 30, WARN: 40, ERROR: 50 } as const;

/** `2026-12-01T09:00:00.123456Z  WARN temporalio_sdk_core::worker: text field=value`, coloured or not. */
function parseEngineLine(line: string): (Entry & { readonly sdkComponent: string }) | undefined {
  const parts = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)\s+(TRACE|DEBUG|INFO|WARN|ERROR)\s+(.+)$/.exec(
    stripVTControlCharacters(line),
  );
  if (!parts) return undefined;
  const [, time = "", level, msg = ""] = parts;
  return { level: engineLevels[level as keyof typeof engineLevels], time: Date.parse(time), msg, sdkComponent: "core" };
}

function readable(role: RoleName, entry: Entry): string {
  const { level, time, msg, taskId } = entry;
  const clock = new Date(time).toTimeString().slice(0, 8);
  const because = causeOf(entry);
  const cause = because && because !== msg ? ` (${because})` : "";
  const upgrade = taskId === undefined ? "" : ` [upgrade ${taskId}]`;
  return `${clock} ${role} ${level > warning ? "ERROR" : "WARN"}${upgrade} ${msg}${cause}`
    .replace(/\s*\n\s*/g, " ")
    .slice(0, 500);
}
