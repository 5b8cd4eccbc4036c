import { execFileSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { oneLine, StartupError } from "../startup-error";

/** The data folder while this process has it for itself. */
export interface ClaimedDataDir {
  /** True where the one before did not give it back, so some of its processes may still be about to end. */
  readonly predecessorWasKilled: boolean;
  /** Replaces `processes.json`: process ids by role, for operators and tests. */
  writeProcesses(processes: Readonly<Record<string, number>>): void;
  release(): void;
}

/**
 * Takes the data folder for this process; two services on one database would destroy it. Ends what a killed
 * predecessor has left running. Throws {@link StartupError} where the folder is in use or cannot be written.
 *
 * proper-lockfile judges a holder by the age of its lock: a start after a kill would have to wait, and a service that is
 * suspended for some seconds would lose the folder to a second one.
 */
export function claimDataDir(dataDir: string): ClaimedDataDir {
  const lock = join(dataDir, "start.lock");
  const processes = join(dataDir, "processes.json");
  let predecessorWasKilled = false;
  try {
    makeFolder(join(dataDir, "logs"));
    accessSync(dataDir, constants.W_OK);
    predecessorWasKilled = takeLock(lock, dataDir);
    if (predecessorWasKilled) endLeftServer(processes, dataDir);
  } catch (thrown) {
    if (thrown instanceof StartupError) throw thrown;
    throw new StartupError(`Cannot write to ${dataDir} (${oneLine(thrown)}): make it writable or set DATA_DIR.`);
  }
  return {
    predecessorWasKilled,
    writeProcesses: (ids) => {
      writeFileSync(`${processes}.new`, `${JSON.stringify(ids, null, 2)}\n`);
      renameSync(`${processes}.new`, processes);
    },
    release: () => {
      rmSync(processes, { force: true });
      rmSync(lock, { force: true });
    },
  };
}

/** Node's own recursive form never returns where the kernel refuses a folder as if its parent were missing (/proc). */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  }
}

/** Answers whether the lock had to be taken from an owner that is gone. */
function takeLock(lock: string, dataDir: string): boolean {
  const mine = `${lock}.${process.pid}`;
  let tookOver = false;
  writeFileSync(mine, `${process.pid} ${commandOf(process.pid)}`);
  try {
    // A link is made with its content or not at all, so no other process can see a lock without an owner.
    while (!tryLink(mine, lock)) {
      const owner = existsSync(lock) ? readFileSync(lock, "utf8") : "";
      if (isAlive(owner)) throw inUse(dataDir, owner);
      removeStale(lock, owner, mine);
      tookOver = true;
    }
    return tookOver;
  } finally {
    rmSync(mine, { force: true });
  }
}

const inUse = (dataDir: string, owner: string) =>
  new StartupError(
    `${dataDir} is in use by process ${owner.split(" ")[0]}: stop that one or set DATA_DIR to another folder.`,
  );

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  }
}

/** Removes the lock of an owner that is gone; one that another process has taken since then is put back. */
function removeStale(lock: string, owner: string, mine: string): void {
  const aside = `${mine}.stale`;
  try {
    renameSync(lock, aside);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return;
    throw thrown;
  }
  if (readFileSync(aside, "utf8") !== owner) tryLink(aside, lock);
  rmSync(aside);
}

/** Whether the owner, `<process id> <command line>`, still runs: ids are used again, so the id alone says little. */
function isAlive(owner: string): boolean {
  const [pid] = owner.split(" ", 1);
  return pid !== String(process.pid) && owner === `${pid} ${commandOf(Number(pid))}`;
}

/**
 * Ends a Temporal server on this folder's database that was left running. The roles end by themselves when their
 * supervisor is gone, and the server with its role, unless that one was killed in the same moment.
 */
function endLeftServer(processes: string, dataDir: string): void {
  let recorded: Record<string, number>;
  try {
    recorded = JSON.parse(readFileSync(processes, "utf8")) as Record<string, number>;
  } catch {
    return;
  }
  for (const pid of Object.values(recorded))
    if (commandOf(pid)?.includes(join(dataDir, "temporal.sqlite"))) process.kill(pid, "SIGKILL");
}

/** The command line of a process; undefined where there is no such process. Linux has it in a file, others in `ps`. */
function commandOf(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  try {
    return existsSync("/proc/self/cmdline")
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
      : execFileSync("ps", ["-p", String(pid), "-o", "args="], {
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"],
        });
  } catch {
    return undefined;
  }
}
