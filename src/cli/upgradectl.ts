#!/usr/bin/env node
import { setTimeout as delay } from "node:timers/promises";
import { confirm } from "@clack/prompts";
import { interruption } from "./api-client";
import type { Environment } from "./environment";
import { exitCode } from "./errors";
import { runCli } from "./program";

/** The command line, on this process: the only file of it that knows one. */
async function main(): Promise<void> {
  const interrupted = new AbortController();
  const stop = () => {
    // A second Ctrl-C ends it at once.
    if (interrupted.signal.aborted) process.exit(exitCode.interrupted);
    interrupted.abort();
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  // A reader such as `head` that has seen enough is no failure.
  const noReader = (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1);
  process.stdout.on("error", noReader);
  process.stderr.on("error", noReader);
  const environment: Environment = {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    interrupted: interrupted.signal,
    now: Date.now,
    holdTerminal,
    confirm: async (message) => (await confirm({ message, initialValue: false, output: process.stderr })) === true,
    wait: (milliseconds) =>
      delay(milliseconds, undefined, { signal: interrupted.signal }).catch((error: unknown) => {
        throw interruption(error);
      }),
  };
  process.exitCode = await runCli(process.argv.slice(2), environment);
}

/** Ctrl-Z stops the process once the terminal is in order; `fg` lets it go on. */
function holdTerminal(leave: () => void, back: () => void): () => void {
  const suspend = () => {
    leave();
    process.once("SIGCONT", back);
    process.kill(process.pid, "SIGSTOP");
  };
  process.on("SIGTSTP", suspend).on("exit", leave);
  return () => void process.off("SIGTSTP", suspend).off("SIGCONT", back).off("exit", leave);
}

void main();
