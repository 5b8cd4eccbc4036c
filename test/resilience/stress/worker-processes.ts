import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Draws } from "../walk/deck";

const root = resolve(__dirname, "../../..");

/** Milliseconds before the first fault and between two others, and how long a worker stands still; the longest is past what Temporal waits for. */
const faults = { first: [0, 1_000], between: [4_000, 12_000], frozen: [500, 5_000] } as const;

const within = ({ number }: Draws, [least, most]: readonly [number, number]) => least + number() * (most - least);

/** Worker processes, of which one after another is killed or frozen. */
export class WorkerProcesses {
  private readonly running = new Set<ChildProcess>();
  private isEnding = false;
  private faulting: Promise<void> = Promise.resolve();
  /** How often one was killed or frozen. */
  faults = 0;
  /** What they have printed. */
  printed = "";
  /** Workers that have ended though nobody has killed them. */
  readonly lost: string[] = [];

  constructor(
    private readonly address: string,
    private readonly cachedWorkflows: number,
  ) {}

  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.startOne()));
  }

  /** Kills and freezes workers until {@link endFaults}. */
  beginFaults(random: Draws): void {
    this.isEnding = false;
    this.faulting = this.keepFaulting(random);
  }

  /** From here on all of them run. Rejects where one could not be replaced. */
  async endFaults(): Promise<void> {
    this.isEnding = true;
    await this.faulting;
  }

  async stop(): Promise<void> {
    try {
      await this.endFaults();
    } finally {
      await Promise.all([...this.running].map((child) => this.kill(child)));
    }
  }

  private async keepFaulting(random: Draws): Promise<void> {
    for (let wait: readonly [number, number] = faults.first; !this.isEnding; wait = faults.between) {
      await pause(within(random, wait));
      this.faults += 1;
      const victim = random.one([...this.running]);
      if (random.number() < 0.5) {
        await this.kill(victim);
        await this.startOne();
      } else {
        victim.kill("SIGSTOP");
        await pause(within(random, faults.frozen));
        victim.kill("SIGCONT");
      }
    }
  }

  private async startOne(): Promise<void> {
    const script = resolve(__dirname, "stress-worker.ts");
    const child = spawn(process.execPath, ["--import", "tsx", script, this.address, String(this.cachedWorkflows)], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.running.add(child);
    child.once("exit", (code, signal) => {
      // Who kills one takes it out before.
      if (this.running.delete(child)) this.lost.push(`A worker ended with ${code ?? signal}`);
    });
    const ready = new Promise<void>((resume, reject) => {
      child.once("exit", (code) =>
        reject(new Error(`A worker ended with ${code} before it was ready\n${this.printed}`)),
      );
      child.stdout.on("data", (text: Buffer) => text.includes("ready") && resume());
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text: Buffer) => (this.printed += text.toString()));
    await ready;
  }

  /** kill -9, also of one that is frozen; resolves when it is gone. */
  private async kill(child: ChildProcess): Promise<void> {
    if (!this.running.delete(child)) return;
    const gone = new Promise((resume) => child.once("exit", resume));
    child.kill("SIGKILL");
    await gone;
  }
}
