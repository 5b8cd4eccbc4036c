import { type ChildProcess, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { searchAttributes } from "../../workflows/search-attributes";
import { oneLine, StartupError } from "../startup-error";
import { searchAttributeTypes } from "./search-attribute-types";

/** What the embedded Temporal server needs to know. */
export interface DevServerOptions {
  /** The Temporal CLI. */
  readonly cliPath: string;
  readonly dataDir: string;
  readonly port: number;
  readonly uiPort: number;
  readonly namespace: string;
  /** Where the Web UI has encrypted payloads decrypted. */
  readonly codecEndpoint?: string;
  /** Takes each line that the server writes: JSON in its own form, or plain text. */
  readonly onLine: (line: string) => void;
}

/** The embedded Temporal server while it runs. */
export interface DevServer {
  readonly pid: number;
  readonly address: string;
  readonly uiUrl: string;
  /** Settles when the server has ended by itself, with how. */
  readonly ended: Promise<string>;
  /** Ends the server; what it holds is on disk. Killed after `graceMilliseconds`. */
  stop(graceMilliseconds?: number): Promise<void>;
}

/** How long closed Workflows stay readable: 90 days. The server's own default for a new namespace is one day. */
export const retentionSeconds = 90 * 24 * 3600;

const startSeconds = 45;
const host = "127.0.0.1";

/**
 * Starts Temporal's development server on the loopback address, with its state in `DATA_DIR/temporal.sqlite`, so that
 * drafts and running upgrades survive a restart. Resolves once the namespace, its search attributes and its retention
 * are there. Throws {@link StartupError} where the server ends or does not answer. It is killed where its database is
 * broken (docs/decisions/0034), and whoever looks after it starts it again.
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  await mkdir(options.dataDir, { recursive: true });
  const child = spawn(options.cliPath, devServerArguments(options), { stdio: ["ignore", "pipe", "pipe"] });
  const lastLines: string[] = [];
  const database = new BrokenDatabase();
  let isBroken = false;
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => {
      lastLines.splice(0, lastLines.length - 4);
      lastLines.push(line);
      options.onLine(line);
      if (isBroken || !database.isToldBy(line, performance.now())) return;
      isBroken = true;
      // At once: what it has accepted is on disk, as after any other kill.
      child.kill("SIGKILL");
    });
  const ended = howItEnds(child).then((how) =>
    isBroken ? "its database had interrupted calls for five seconds, so it was killed" : how,
  );
  const address = `${host}:${options.port}`;
  const stop = (grace = 3_000) => endProcess(child, ended, grace);
  try {
    await Promise.race([
      prepareNamespace(address, options.namespace),
      ended.then((how) => {
        throw new StartupError(`The Temporal server failed to start (${how}): ${oneLine(lastLines.join("; "))}`);
      }),
    ]);
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  return { pid: child.pid ?? 0, address, uiUrl: `http://${host}:${options.uiPort}`, ended, stop };
}

/** The CLI's arguments. Write-ahead logging more than doubles how many Workflows SQLite starts a second. */
function devServerArguments(options: Omit<DevServerOptions, "cliPath" | "onLine">): string[] {
  const attributes = searchAttributes.flatMap((key) => [
    "--search-attribute",
    `${key.name}=${searchAttributeTypes[key.type].named}`,
  ]);
  return [
    ...["server", "start-dev", "--ip", host, "--port", String(options.port), "--ui-port", String(options.uiPort)],
    ...["--db-filename", join(options.dataDir, "temporal.sqlite")],
    ...["--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal"],
    // Many readers may look at one upgrade; by default the server keeps only one Query waiting and refuses the next.
    ...["--dynamic-config-value", "history.MaxBufferedQueryCount=100"],
    // By default it warns of every memo of more than 2 KiB; ours have up to 860 kB.
    ...["--dynamic-config-value", "limit.memoSize.warn=1048576"],
    // By default an upgrade stands still for up to ten minutes after a worker that crashed in a loop.
    ...["--dynamic-config-value", 'history.workflowTaskRetryMaxInterval="1m"'],
    // By default a shard reads its queues 20 times a second, and this server has one shard: each step would take 50 ms.
    ...["transfer", "timer", "visibility"].flatMap((queue) => [
      "--dynamic-config-value",
      `history.${queue}ProcessorMaxPollRPS=1000`,
    ]),
    ...(options.codecEndpoint === undefined ? [] : ["--ui-codec-endpoint", options.codecEndpoint]),
    ...["--namespace", options.namespace, ...attributes],
    ...["--log-format", "json", "--log-level", "warn"],
    // The operator's settings for the CLI are about other servers.
    ...["--disable-config-env", "--disable-config-file"],
  ];
}

async function prepareNamespace(address: string, namespace: string): Promise<void> {
  const deadline = Date.now() + startSeconds * 1000;
  for (;;) {
    try {
      return await raiseRetention(address, namespace);
    } catch (thrown) {
      if (Date.now() > deadline)
        throw new StartupError(`The Temporal server does not answer at ${address}: ${oneLine(thrown)}`);
      await pause(100);
    }
  }
}

async function raiseRetention(address: string, namespace: string): Promise<void> {
  // Loaded while the server starts.
  const { Connection } = await import("@temporalio/client");
  const connection = await Connection.connect({ address, connectTimeout: "2s" });
  try {
    await connection.withDeadline(Date.now() + 5_000, async () => {
      const { config } = await connection.workflowService.describeNamespace({ namespace });
      const present = config?.workflowExecutionRetentionTtl?.seconds;
      if (!present) throw new Error(`namespace ${namespace} has no retention`);
      const missing = retentionSeconds - present.toNumber();
      if (missing <= 0) return;
      await connection.workflowService.updateNamespace({
        namespace,
        config: { workflowExecutionRetentionTtl: { seconds: present.add(missing) } },
      });
    });
  } finally {
    await connection.close();
  }
}

function howItEnds(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
}

async function endProcess(child: ChildProcess, ended: Promise<string>, graceMilliseconds: number): Promise<void> {
  child.kill("SIGTERM");
  const killer = setTimeout(() => child.kill("SIGKILL"), graceMilliseconds);
  await ended.finally(() => clearTimeout(killer));
}

/** What SQLite's driver answers, and Temporal writes to its log. */
const interrupted = "interrupted (9)";

/** Longest longestPause between two lines of the same breakdown, in milliseconds; 600 were seen. */
const longestPause = 2_000;

/** How long such lines have come when it is held for broken, in milliseconds. */
const tolerated = 5_000;

/**
 * Finds out from the log of the embedded server that its database is broken: SQLite's driver can be left so that
 * every later call is interrupted, for ever (docs/decisions/0034). Calls that succeed are not in the log.
 */
export class BrokenDatabase {
  private first = 0;
  private last = -Infinity;

  /** Whether it is broken, after a line that was written at `now` (milliseconds of any clock). */
  isToldBy(line: string, now: number): boolean {
    if (!line.includes(interrupted)) return false;
    if (now - this.last > longestPause) this.first = now;
    this.last = now;
    return now - this.first >= tolerated;
  }
}
