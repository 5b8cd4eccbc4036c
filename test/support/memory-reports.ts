import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "./eventually";

/** Loaded into processes, so that they can be asked for the memory that they use. */
const reporter = join(__dirname, "report-memory.mjs");
/** How long a process may take to answer where a machine is slow and busy, in milliseconds. */
const retryPolicy = 30_000;

/** The memory that processes use, their garbage left out: each collects it when it is asked. */
export class MemoryReports {
  private readonly folder = mkdtempSync(join(tmpdir(), "ums-memory-"));

  /** What the environment of a process needs so that it can be asked. */
  readonly variables: Readonly<Record<string, string>> = {
    MEMORY_REPORTS: this.folder,
    NODE_OPTIONS: `--import=${reporter}`,
  };

  /** The bytes in the heap of a process' main thread and in what belongs to it outside of the heap. */
  async used(processId: number): Promise<number> {
    const report = join(this.folder, `${processId}.json`);
    rmSync(report, { force: true });
    process.kill(processId, "SIGUSR2");
    await eventually(
      () => Promise.resolve(existsSync(report)),
      (isThere) => isThere,
      retryPolicy,
    );
    const { heapUsed, external } = JSON.parse(readFileSync(report, "utf8")) as NodeJS.MemoryUsage;
    return heapUsed + external;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
