import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { pause, until } from "../../support/service/deployment";

/** How a process is started and how one knows that it can be used. */
export interface KeptAliveOptions {
  readonly what: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly options?: Pick<SpawnOptions, "env" | "cwd" | "uid" | "gid">;
  /** Whether a message of the process says that it is ready; absent where `isUp` is asked instead. */
  readonly saysReady?: (message: unknown) => boolean;
  readonly isUp?: () => Promise<boolean>;
}

/** How long after its end a process is started again, in milliseconds: the first step of a container's restart policy. */
const pauseMilliseconds = 100;

/** A process that is started again whenever it ends by itself, as a container with a restart policy is. */
export class KeptAlive {
  private child: ChildProcess | undefined;
  private restart: NodeJS.Timeout | undefined;
  private stopping = false;
  private ready = false;
  /** All that it has said. */
  output = "";

  constructor(private readonly settings: KeptAliveOptions) {}

  /** Its process id while it is ready. */
  get pid(): number | undefined {
    return this.ready && this.runs ? this.child?.pid : undefined;
  }

  private get runs(): boolean {
    return this.child?.exitCode === null && this.child.signalCode === null;
  }

  async start(): Promise<void> {
    const { what } = this.settings;
    this.stopping = false;
    this.launch();
    try {
      await until(`${what} is ready`, () => this.ready, 90);
    } catch (error) {
      throw new Error(`${what} did not start:\n${this.output.slice(-4000)}`, { cause: error });
    }
  }

  /** Asks it to end, and resolves with its exit code when it has. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.stopping = true;
    clearTimeout(this.restart);
    const { child } = this;
    if (!child || !this.runs) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((done) => child.once("exit", done));
    child.kill(signal);
    const killer = setTimeout(() => child.kill("SIGKILL"), 15_000);
    return ended.finally(() => clearTimeout(killer));
  }

  private launch(): void {
    const { program, args, options } = this.settings;
    this.ready = false;
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe", "ipc"] });
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    child.on("message", (message) => (this.ready ||= this.settings.saysReady?.(message) ?? false));
    if (this.settings.isUp) void this.awaitUp(child, this.settings.isUp);
    child.once("error", (error) => (this.output += `${error.message}\n`));
    child.once("exit", () => {
      if (!this.stopping) this.restart = setTimeout(() => this.launch(), pauseMilliseconds);
    });
  }

  private async awaitUp(child: ChildProcess, isUp: () => Promise<boolean>): Promise<void> {
    while (this.child === child && this.runs && !this.stopping && !this.ready) {
      this.ready = await isUp();
      await pause();
    }
  }
}
