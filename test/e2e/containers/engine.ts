import { execFile, spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "../../support/eventually";
import { NameServer } from "./name-server";
import { tool } from "./stand-ins";

const exec = promisify(execFile);

/** What a command said, and how long it took. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

/**
 * A container engine of this suite's own, with everything of it in one folder: no other engine, image or setting of this
 * machine is seen or changed. It needs root. Containers reach each other, this machine and a DNS of ours, and nothing else.
 */
export class Engine {
  nameServer: NameServer | undefined;
  private daemon: ChildProcess | undefined;

  private constructor(
    readonly folder: string,
    private readonly bridge: string,
    /** Of the DNS that containers are to ask. */
    readonly nameServerAddress: string,
  ) {}

  static async start(): Promise<Engine> {
    if (process.getuid?.() !== 0)
      throw new Error("The containers suite starts an engine of its own, which only root can");
    // By the checkout, so that what a run left behind that was killed is found and removed by the next.
    const digest = createHash("sha256").update(__dirname).digest();
    const folder = join(tmpdir(), `ums-engine-${digest.toString("hex").slice(0, 8)}`);
    const bridge = `ums${digest.toString("hex").slice(0, 8)}`;
    // Of the networks that are for tests of devices (RFC 2544).
    const address = `198.18.${digest[8]}.${digest[9]}`;
    if (existsSync(folder)) await new Engine(folder, bridge, address).discardLeftOver();
    mkdirSync(join(folder, "cli/cli-plugins"), { recursive: true });
    symlinkSync(join(tool("DOCKER_COMPOSE"), "docker-compose"), join(folder, "cli/cli-plugins/docker-compose"));
    await exec("ip", ["link", "add", bridge, "type", "bridge"]);
    await exec("ip", ["address", "add", `${address}/32`, "dev", bridge]);
    await exec("ip", ["link", "set", bridge, "up"]);
    const engine = new Engine(folder, bridge, address);
    engine.nameServer = await NameServer.listen(address);
    await engine.up();
    return engine;
  }

  /** What a shell command needs to use this engine. */
  get environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env["PATH"],
      HOME: this.folder,
      DOCKER_HOST: `unix://${join(this.folder, "docker.sock")}`,
      DOCKER_CONFIG: join(this.folder, "cli"),
      DOCKER_BUILDKIT: "0",
    };
  }

  /** Runs a shell command, in a folder, whatever its exit code is. */
  async run(command: string, cwd = this.folder): Promise<Said> {
    const began = Date.now();
    const child = spawn("bash", ["-euo", "pipefail", "-c", command], {
      cwd,
      env: this.environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const [code] = (await once(child, "close")) as [number | null];
    return { code: code ?? -1, stdout, stderr, milliseconds: Date.now() - began };
  }

  /** Runs a shell command that has to succeed; gives its output. */
  async sh(command: string, cwd?: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(command, cwd);
    if (code !== 0) throw new Error(`${command}\nended with ${code}:\n${(stdout + stderr).slice(-4000)}`);
    return stdout.trim();
  }

  /** Stops the engine as a machine does that is shut down, with all containers, and starts it again. */
  async restart(): Promise<void> {
    await this.down();
    await this.up();
  }

  async discard(): Promise<void> {
    await this.run("docker ps -aq | xargs -r docker rm -f -v");
    await this.run("docker network prune -f");
    await this.down();
    this.nameServer?.close();
    await this.run(`ip link delete ${this.bridge}`, "/");
    await this.run(`umount ${join(this.folder, "exec/netns")}/*`, "/");
    await this.sh(`rm -rf ${this.folder}`, "/");
  }

  /** An engine that was killed has left containers: one more takes them over, and ends them. */
  private async discardLeftOver(): Promise<void> {
    await this.run(`kill -TERM "$(cat dockerd.pid)" && while kill -0 "$(cat dockerd.pid)"; do sleep 0.2; done`);
    await this.up();
    await this.discard();
  }

  private async up(): Promise<void> {
    const place = (name: string) => join(this.folder, name);
    const log = openSync(place("dockerd.log"), "a");
    const folders = ["--data-root", place("data"), "--exec-root", place("exec"), "--pidfile", place("dockerd.pid")];
    const network = ["--bridge=none", "--iptables=false", "--ip6tables=false"];
    const args = [...folders, "--host", `unix://${place("docker.sock")}`, ...network];
    this.daemon = spawn("dockerd", args, { cwd: this.folder, detached: true, stdio: ["ignore", log, log] });
    closeSync(log);
    this.daemon.on("error", () => undefined);
    const answers = async () => {
      if (this.daemon?.pid === undefined || this.daemon.exitCode !== null)
        throw new Error(`dockerd does not start: ${readFileSync(place("dockerd.log"), "utf8").slice(-2000)}`);
      return existsSync(place("docker.sock")) && (await this.run("docker version")).code === 0;
    };
    await eventually(answers, (up) => up, 60_000);
  }

  private async down(): Promise<void> {
    if (this.daemon?.exitCode !== null) return;
    const ended = once(this.daemon, "exit");
    this.daemon.kill("SIGTERM");
    await ended;
  }
}
