import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, renameSync, statSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { intervalAfter, type RetryIntervals } from "../domain/retry-intervals";
import { StartupError } from "../startup-error";
import {
  type Begin,
  type Ready,
  type RoleMessage,
  type RoleName,
  roleTitles,
  stopMilliseconds,
  waitForBegin,
} from "./messages";

/** How a role's process is started, and whom to tell about it. */
export interface RoleProcessOptions {
  readonly role: RoleName;
  /** Node's arguments: the program, the role's name and what else it is given. */
  readonly command: readonly string[];
  readonly dataDir: string;
  /** Shows one line to the operator. */
  readonly say: (line: string) => void;
  /** Called when the process ids have changed. */
  readonly onChange: () => void;
}

const restarts: RetryIntervals = { initialInterval: 200, backoffCoefficient: 2, maximumInterval: 10_000 };
/** After this long without a crash the next one counts as the first. */
const settledMilliseconds = 60_000;
const startMilliseconds = 90_000;

/** One role as a process of its own, which is started again when it ends by itself. */
export class RoleProcess {
  private child: ChildProcess | undefined;
  private ready: Ready | undefined;
  private restart: NodeJS.Timeout | undefined;
  private failures = 0;
  private stopping = false;
  private readonly log: WriteStream;
  private readonly firstReady: Promise<Ready>;

  /** Starts the process, which loads its program and then waits for {@link begin}. */
  constructor(private readonly options: RoleProcessOptions) {
    this.log = openRoleLog(options.dataDir, options.role);
    this.firstReady = new Promise((resolve, reject) => {
      this.launch([waitForBegin], resolve, (how) => reject(new StartupError(how)));
    });
    // Told by begin.
    this.firstReady.catch(() => undefined);
  }

  /** Process ids by name: the role's own, and those of the processes that it has started. */
  get processes(): Record<string, number> {
    return this.child?.pid === undefined ? {} : { [this.options.role]: this.child.pid, ...this.ready?.processes };
  }

  /**
   * Lets the role begin its work. Rejects with {@link StartupError} where it ends before it is ready: a role that
   * cannot start at all needs the operator, not another attempt.
   */
  async begin(): Promise<Ready> {
    const begin: Begin = { type: "begin" };
    // One that has ended meanwhile is told by its end.
    if (this.child?.connected) this.child.send(begin, () => undefined);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const how = `The ${roleTitles[this.options.role]} is not ready after ${startMilliseconds / 1000} s.`;
      timer = setTimeout(() => reject(new StartupError(how)), startMilliseconds);
    });
    return Promise.race([this.firstReady, late]).finally(() => clearTimeout(timer));
  }

  /** Asks the role to stop and kills it, with all that it has started, when its share of the time is over. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.restart);
    const child = this.child;
    if (child) {
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGTERM");
      const killer = setTimeout(() => this.kill(), stopMilliseconds[this.options.role]);
      await ended;
      clearTimeout(killer);
    }
    this.log.end();
  }

  /** Ends the role and all that it has started at once. */
  kill(): void {
    this.stopping = true;
    clearTimeout(this.restart);
    if (this.child) killGroup(this.child);
  }

  private launch(more: readonly string[], onReady: (ready: Ready) => void, onFirstEnd?: (how: string) => void): void {
    const { role, command, say, onChange, dataDir } = this.options;
    const logFile = roleLogFile(dataDir, role);
    const title = roleTitles[role];
    const child = spawn(process.execPath, [...command, ...more], {
      // A process group of its own: Ctrl-C reaches the supervisor only, which then stops the roles in their order.
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const began = Date.now();
    let failure: string | undefined;
    this.child = child;
    this.ready = undefined;
    onChange();
    // Why a role ends is told when it has ended.
    const show = (line: string, level: number) => {
      if (level < fatal && !this.stopping) say(line);
    };
    for (const output of [child.stdout, child.stderr]) if (output) copyToLog(role, output, this.log, show);
    child.on("message", (message: RoleMessage) => {
      if (message.type === "failed") failure = message.message;
      else {
        this.ready = message;
        onChange();
        onReady(message);
      }
    });
    child.once("error", (error) => (failure = error.message));
    // What the role has started does not outlive it.
    child.once("exit", () => killGroup(child));
    child.once("close", (code, signal) => {
      this.child = undefined;
      onChange();
      const how = failure ?? `The ${title} ended (${signal ?? `exit code ${code}, see ${logFile}`}).`;
      if (!this.ready && onFirstEnd) onFirstEnd(how);
      else if (!this.stopping) this.launchAgain(how, Date.now() - began);
    });
  }

  private launchAgain(how: string, livedMilliseconds: number): void {
    const { say } = this.options;
    const title = roleTitles[this.options.role];
    this.failures = livedMilliseconds > settledMilliseconds ? 1 : this.failures + 1;
    const pause = intervalAfter(this.failures, restarts);
    say(`${how} Restarting it in ${pause / 1000} s`);
    this.restart = setTimeout(() => this.launch([], () => say(`The ${title} is up again`)), pause);
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // The whole group has ended already.
  }
}

/** A log file larger than this is set aside as `<role>.log.1` at the next start. */
const rotateBytes = 50 * 1024 * 1024;
/** The level from which on something is wrong. */
const warning = 40;
/** The level at which a role says why it ends. */
const fatal = 60;

const roleLogFile = (dataDir: string, role: RoleName): string => join(dataDir, "logs", `${role}.log`);

/** Opens the log of a role for appending. A disk that is full costs log lines, not the service. */
function openRoleLog(dataDir: string, role: RoleName): WriteStream {
  const file = roleLogFile(dataDir, role);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > rotateBytes) renameSync(file, `${file}.1`);
  return createWriteStream(file, { flags: "a" }).on("error", () => undefined);
}

/**
 * Writes each line of a role's output to its log as a JSON line, and gives warnings and errors to `show`, one readable
 * line each. What is not JSON (the last words of a process that crashed) becomes a fatal entry.
 */
export function copyToLog(
  role: RoleName,
  output: Readable,
  file: WriteStream,
  show: (line: string, level: number) => void,
): void {
  createInterface({ input: output }).on("line", (line) => {
    if (line.trim() === "") return;
    const entry = parseEntry(line) ?? { level: fatal, time: Date.now(), role, msg: stripVTControlCharacters(line) };
    file.write(`${JSON.stringify(entry)}\n`);
    if (entry.level >= warning) show(readable(role, entry), entry.level);
  });
}

interface Entry {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
  readonly taskId?: string;
  readonly err?: { readonly message?: string };
  /** The cause of an error of Temporal's server. */
  readonly error?: unknown;
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
