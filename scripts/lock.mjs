// Runs before `npm ci`, so it can use no package (proper-lockfile).
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, utimesSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** A holder shows by the file's time that it lives; one that was killed leaves a file that grows old. */
const refreshMilliseconds = 1_000;
const staleMilliseconds = 15_000;

/**
 * Does `work` while no other process of this checkout prepares anything: an install and a build at the same time as
 * another would spoil both. Waits for its turn; `signal` ends the wait.
 */
export async function withLock(file, { say, signal }, work) {
  mkdirSync(dirname(file), { recursive: true });
  for (let told = false; !take(file); told = true) {
    if (!told) say("Waiting for another preparation of this checkout to end");
    await pause(200, undefined, { signal });
    if (isStale(file)) rmSync(file, { force: true });
  }
  const refresh = setInterval(() => utimesSync(file, new Date(), new Date()), refreshMilliseconds);
  try {
    return await work();
  } finally {
    clearInterval(refresh);
    rmSync(file, { force: true });
  }
}

function take(file) {
  try {
    const handle = openSync(file, "wx");
    writeSync(handle, String(process.pid));
    closeSync(handle);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function isStale(file) {
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  return age > staleMilliseconds || (age > refreshMilliseconds && !isAlive(owner(file)));
}

function owner(file) {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return process.pid;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
