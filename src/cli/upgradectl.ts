#!/usr/bin/env node
import { setTimeout as delay } from "node:timers/promises";
import { interruption } from "./api-client";
import { runCli } from "./program";
import type { Surroundings } from "./surroundings";

/** The command line, on this process: the only file of it that knows one. */
async function main(): Promise<void> {
  const interrupted = new AbortController();
  const stop = () => interrupted.abort();
  // A second Ctrl-C ends it at once.
  process.once("SIGINT", stop).once("SIGTERM", stop);
  // A reader such as `head` that has seen enough is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  const surroundings: Surroundings = {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    interrupted: interrupted.signal,
    now: Date.now,
    wait: (milliseconds) =>
      delay(milliseconds, undefined, { signal: interrupted.signal }).catch((error: unknown) => {
        throw interruption(error);
      }),
  };
  process.exitCode = await runCli(process.argv.slice(2), surroundings);
}

void main();
