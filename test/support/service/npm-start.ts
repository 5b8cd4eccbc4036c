import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  freePorts,
  until,
  withoutTemporal,
  type Deployment,
  type LogLine,
  type ProcessName,
  type TemporalPlace,
} from "./deployment";

const root = resolve(__dirname, "../../..");

/** `npm start` as its own processes, on free ports and with a data directory of its own. */
export class NpmStart implements Deployment {
  readonly apiUrls: readonly string[];
  readonly simulatorUrl: string;
  readonly temporalUiUrl: string;
  readonly temporal: TemporalPlace;
  private process: ChildProcess | undefined;
  private output = "";
  readonly dataDir = mkdtempSync(join(tmpdir(), "ums-system-"));

  private constructor(
    private readonly ports: Readonly<
      Record<"API_PORT" | "TEMPORAL_PORT" | "TEMPORAL_UI_PORT" | "SIMULATOR_PORT", number>
    >,
    private readonly variables: Readonly<Record<string, string>>,
    private readonly checkout: string,
  ) {
    this.apiUrls = [`http://127.0.0.1:${ports.API_PORT}`];
    this.simulatorUrl = `http://127.0.0.1:${ports.SIMULATOR_PORT}`;
    this.temporalUiUrl = `http://127.0.0.1:${ports.TEMPORAL_UI_PORT}`;
    this.temporal = { address: `127.0.0.1:${ports.TEMPORAL_PORT}`, namespace: "default" };
  }

  /** A deployment that is not yet started. `checkout`: the folder of one that is built; by default this one. */
  static async prepare(variables: Readonly<Record<string, string>>, checkout = root): Promise<NpmStart> {
    const ports = await freePorts("API_PORT", "TEMPORAL_PORT", "TEMPORAL_UI_PORT", "SIMULATOR_PORT");
    return new NpmStart(ports, variables, checkout);
  }

  get printed(): string {
    return this.output;
  }

  async start(): Promise<void> {
    this.output = "";
    const ports = Object.fromEntries(Object.entries(this.ports).map(([name, port]) => [name, String(port)]));
    const child = spawn(process.execPath, ["dist/src/main.js", "start"], {
      cwd: this.checkout,
      env: { ...withoutTemporal(process.env), ...ports, ...this.variables, DATA_DIR: this.dataDir },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process = child;
    child.stdout.on("data", (chunk: Buffer) => (this.output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (this.output += chunk.toString()));
    await until("the service is ready", () => {
      if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}:\n${this.output}`);
      return /^ready$/m.test(this.output);
    });
  }

  processes(): Partial<Record<ProcessName, readonly number[]>> {
    const ids = JSON.parse(readFileSync(join(this.dataDir, "processes.json"), "utf8")) as Record<ProcessName, number>;
    return Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, [id]]));
  }

  log(role: "api" | "worker"): LogLine[] {
    const lines = readFileSync(join(this.dataDir, `logs/${role}.log`), "utf8")
      .trim()
      .split("\n");
    return lines.map((line) => JSON.parse(line) as LogLine);
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    const child = this.process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((done) => child.once("exit", done));
    child.kill(signal);
    return ended;
  }

  async discard(): Promise<void> {
    await this.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
