import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { oneLine, StartupError } from "../startup-error";

/** The newest release that `go install` can build: server 1.29.1, Web UI 2.42.1. */
export const temporalCliVersion = "v1.5.1";

/** Where to look for the Temporal CLI, and whom to tell about what takes long. */
export interface TemporalCliSearch {
  /** TEMPORAL_CLI_PATH: nothing else is tried when it is set. */
  readonly cliPath: string | undefined;
  /** The project's cache; the CLI is kept below it. */
  readonly cacheDir: string;
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  /** A script that is called with a folder and a version, and downloads the CLI into that folder by way of the SDK. */
  readonly downloadScript: string;
  readonly say: (line: string) => void;
  /** Ends the search and what it has started. */
  readonly signal?: AbortSignal;
  /** Pause between two progress lines, in milliseconds. */
  readonly progressMilliseconds?: number;
  /** How long the download may go without a byte, in milliseconds: without a network it must give up soon. */
  readonly downloadStallMilliseconds?: number;
}

/** The place of the CLI in the project's cache. */
export const cachedCliPath = (cacheDir: string): string =>
  join(cacheDir, `temporal-cli-${temporalCliVersion}`, "temporal");

/**
 * Finds the Temporal CLI, which holds the embedded server: TEMPORAL_CLI_PATH, PATH, the project's cache, the SDK's
 * download, a build by Go. Throws one {@link StartupError} that names all five ways where none of them works.
 */
export async function findTemporalCli(search: TemporalCliSearch): Promise<string> {
  if (search.cliPath !== undefined) {
    if (await isTemporalCli(search.cliPath, search)) return search.cliPath;
    throw new StartupError(
      `TEMPORAL_CLI_PATH=${search.cliPath} is not a working Temporal CLI: correct it or unset it.`,
    );
  }
  for (const folder of (search.environment["PATH"] ?? "").split(delimiter).filter((name) => name !== "")) {
    const candidate = join(folder, "temporal");
    if (isExecutable(candidate) && (await isTemporalCli(candidate, search))) return candidate;
  }
  const cached = cachedCliPath(search.cacheDir);
  if (isExecutable(cached)) return cached;
  const download = await intoCache(search, (folder) => downloadCli(search, folder));
  if (download === undefined) return cached;
  const build = await intoCache(search, (folder) => buildCli(search, folder));
  if (build === undefined) return cached;
  throw new StartupError(
    `No Temporal CLI. Set TEMPORAL_CLI_PATH to one, put \`temporal\` on PATH, or put it at ${cached}; ` +
      `the SDK's download failed (${download}), and so did \`go install\` (${build}). ` +
      "Or set TEMPORAL_ADDRESS to a Temporal server that runs.",
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

async function isTemporalCli(file: string, { environment, signal }: TemporalCliSearch): Promise<boolean> {
  const deadline = AbortSignal.timeout(20_000);
  const result = await run(file, ["--version"], environment, signal ? AbortSignal.any([signal, deadline]) : deadline);
  signal?.throwIfAborted();
  return result.ok && /^temporal version/.test(result.output);
}

/**
 * Lets `make` put the CLI into a new folder beside its place in the cache, and moves it there in one step, so that an
 * interrupted attempt leaves nothing half done. Answers why it did not work, if so.
 */
async function intoCache(search: TemporalCliSearch, make: (folder: string) => Promise<string | undefined>) {
  const place = cachedCliPath(search.cacheDir);
  let folder: string | undefined;
  try {
    await mkdir(join(place, ".."), { recursive: true });
    folder = await mkdtemp(join(search.cacheDir, ".making-temporal-cli-"));
    const problem = await make(folder);
    if (problem !== undefined) return problem;
    const [made] = (await readdir(folder)).filter((name) => name.startsWith("temporal"));
    if (made === undefined) return "no file was downloaded";
    await chmod(join(folder, made), 0o755);
    await rename(join(folder, made), place);
    return undefined;
  } catch (thrown) {
    return oneLine(thrown);
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    search.signal?.throwIfAborted();
  }
}

async function downloadCli(search: TemporalCliSearch, folder: string): Promise<string | undefined> {
  const stall = search.downloadStallMilliseconds ?? 12_000;
  const stalled = new AbortController();
  let size = 0;
  let lastGrowth = Date.now();
  const watch = setInterval(() => {
    void sizeOf(folder).then((now) => {
      if (now > size) [size, lastGrowth] = [now, Date.now()];
      else if (Date.now() - lastGrowth > stall) stalled.abort();
    });
  }, 250);
  const signals = [stalled.signal, ...(search.signal ? [search.signal] : [])];
  const args = [search.downloadScript, folder, temporalCliVersion];
  const result = await run(process.execPath, args, search.environment, AbortSignal.any(signals)).finally(() =>
    clearInterval(watch),
  );
  if (result.ok) return undefined;
  return stalled.signal.aborted ? `nothing came for ${Math.round(stall / 1000)} s` : result.output;
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  return names.reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

async function buildCli(search: TemporalCliSearch, folder: string): Promise<string | undefined> {
  const began = Date.now();
  search.say(`Building the Temporal CLI ${temporalCliVersion} with Go; this happens once and takes about six minutes`);
  const progress = setInterval(() => {
    search.say(`Building the Temporal CLI: ${Math.round((Date.now() - began) / 1000)} s so far`);
  }, search.progressMilliseconds ?? 15_000);
  const result = await run(
    "go",
    ["install", `github.com/temporalio/cli/cmd/temporal@${temporalCliVersion}`],
    { ...search.environment, GOBIN: folder },
    search.signal,
  ).finally(() => clearInterval(progress));
  return result.ok ? undefined : result.output;
}

/** Runs a program to its end. `output` is all it wrote on success, else the end of it or why it did not start. */
function run(program: string, args: readonly string[], env: Readonly<NodeJS.ProcessEnv>, signal?: AbortSignal) {
  return new Promise<{ ok: boolean; output: string }>((resolve) => {
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"], ...(signal && { signal }) });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", (error) => resolve({ ok: false, output: oneLine(error) }));
    child.once("close", (code) => {
      resolve(
        code === 0
          ? { ok: true, output }
          : { ok: false, output: oneLine(output.trim().slice(-300)) || `exit code ${code}` },
      );
    });
  });
}
