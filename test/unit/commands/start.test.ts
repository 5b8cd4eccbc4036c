import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { useBundledProgram } from "../../support/bundled-program";

/** The real supervisor with roles that do nothing, in processes of their own. */
class Service {
  output = "";
  private readonly child: ChildProcess;
  private readonly ended: Promise<number | null>;

  constructor(
    program: string,
    readonly dataDir: string,
    readonly ports: { api: number; simulator: number },
    environment: NodeJS.ProcessEnv = {},
  ) {
    this.child = spawn(process.execPath, [program], {
      env: {
        PATH: process.env["PATH"],
        DATA_DIR: dataDir,
        API_PORT: String(ports.api),
        SIMULATOR_PORT: String(ports.simulator),
        TEMPORAL_ADDRESS: "127.0.0.1:1",
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on("data", (chunk) => (this.output += String(chunk)));
    this.ended = new Promise((done) => this.child.once("close", done));
  }

  get lines(): string[] {
    return this.output.trimEnd().split("\n");
  }

  ready(): Promise<void> {
    return until("ready is printed", () => /^ready$/m.test(this.output) || this.child.exitCode !== null);
  }

  /** Process ids by role; waits until each of the roles has one that is not among the `former` ones. */
  async pids(former: readonly number[] = []): Promise<Record<string, number>> {
    let pids: Record<string, number> = {};
    await until("all processes are there", () => {
      pids = JSON.parse(readFileSync(join(this.dataDir, "processes.json"), "utf8")) as Record<string, number>;
      const current = ["simulator", "worker", "api"].map((role) => pids[role]);
      return current.every((pid) => pid !== undefined && !former.includes(pid));
    });
    return pids;
  }

  kill(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  exit(): Promise<number | null> {
    return this.ended;
  }
}

async function until(what: string, condition: () => boolean, seconds = 30): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`Not within ${seconds} s: ${what}`);
    await pause(20);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

describe("start", function () {
  this.timeout(90_000);
  const program = useBundledProgram(resolve(__dirname, "../../support/fake-service.ts"));
  let dataDir: string;
  let services: Service[];

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "start-"));
    services = [];
  });
  afterEach(async () => {
    await Promise.all(services.map((service) => service.kill("SIGKILL")));
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function begin(environment: NodeJS.ProcessEnv = {}): Promise<Service> {
    const service = new Service(
      program(),
      dataDir,
      { api: await freePort(), simulator: await freePort() },
      environment,
    );
    services.push(service);
    return service;
  }

  it("says where everything is, ends with `ready`, and stops in order with exit code 0", async () => {
    const service = await begin();
    await service.ready();
    expect(service.lines.at(-1)).to.equal("ready");
    expect(service.output).to.contain(`http://127.0.0.1:${service.ports.api}/docs`);
    expect(service.output).to.contain(`curl -s http://127.0.0.1:${service.ports.api}/v1/upgrades`);
    expect(service.output).to.match(/^\d\d:\d\d:\d\d worker WARN a warning of worker$/m);
    const pids = await service.pids();
    expect(await service.kill("SIGTERM")).to.equal(0);
    expect(Object.values(pids).filter(isRunning)).to.deep.equal([]);
    expect(existsSync(join(dataDir, "processes.json"))).to.equal(false);

    const stops = ["api", "worker", "simulator"].map((role) => {
      const log = readFileSync(join(dataDir, "logs", `${role}.log`), "utf8")
        .trimEnd()
        .split("\n");
      const entries = log.map((line) => JSON.parse(line) as { role: string; time: number; msg: string });
      expect(entries.map((entry) => entry.role)).to.deep.equal(entries.map(() => role));
      return {
        asked: entries.find(({ msg }) => msg === "stopping"),
        done: entries.find(({ msg }) => msg === "stopped"),
      };
    });
    for (const [i, { asked }] of stops.entries())
      if (i > 0) expect(asked?.time).to.be.at.least(stops[i - 1]?.done?.time ?? Infinity);
  });

  it("starts a killed role again, with a line that says so", async () => {
    const service = await begin();
    await service.ready();
    const before = await service.pids();
    process.kill(before["worker"] ?? 0, "SIGKILL");
    await until("the worker is back", () => service.output.includes("The worker is up again"));
    expect(service.output).to.contain("The worker ended (SIGKILL). Restarting it in 0.2 s");
    const after = await service.pids([before["worker"] ?? 0]);
    expect(after["api"]).to.equal(before["api"]);
    expect(await service.kill("SIGINT")).to.equal(0);
  });

  it("ends everything with one line where a role cannot start", async () => {
    const service = await begin({ FAKE_FAILS: "worker" });
    expect(await service.exit()).to.equal(1);
    expect(service.lines.filter((line) => !line.includes("WARN"))).to.deep.equal(["The worker has no wings."]);
    expect(existsSync(join(dataDir, "start.lock"))).to.equal(false);
  });

  it("tells the failure of the first of the roles that cannot start", async () => {
    const service = await begin({ FAKE_FAILS: "api,worker" });
    expect(await service.exit()).to.equal(1);
    expect(service.lines.filter((line) => !line.includes("WARN"))).to.deep.equal(["The worker has no wings."]);
  });

  it("lets the worker and the API begin only when what they need is there", async () => {
    const service = await begin({ FAKE_FAILS: "simulator" });
    expect(await service.exit()).to.equal(1);
    expect(service.lines).to.deep.equal(["The simulator has no wings."]);
    for (const role of ["worker", "api"])
      expect(readFileSync(join(dataDir, "logs", `${role}.log`), "utf8"), role).not.to.contain("a warning");
  });

  for (const signal of ["SIGTERM", "SIGKILL"] as const)
    it(`leaves nothing behind after a ${signal} while roles still wait for another`, async () => {
      const service = await begin({ FAKE_STALLS: "simulator" });
      await until("the simulator is at it", () => service.output.includes("a warning of simulator"));
      const pids = await service.pids();
      expect(await service.kill(signal)).to.equal(signal === "SIGTERM" ? 0 : null);
      await until("nothing is left", () => !Object.values(pids).some(isRunning));
      expect(service.output).not.to.match(/^ready$/m);
    });

  it("tells of files that it cannot use before it starts anything", async () => {
    const service = await begin({ INVENTORY_FILE: "/nowhere/inventory.yaml" });
    expect(await service.exit()).to.equal(1);
    expect(service.lines).to.deep.equal([
      "INVENTORY_FILE=/nowhere/inventory.yaml cannot be used: ENOENT: no such file or directory, open " +
        "'/nowhere/inventory.yaml'. Correct it or set INVENTORY_FILE.",
    ]);
    expect(existsSync(join(dataDir, "logs"))).to.equal(false);
  });

  it("tells what its authentication lacks before it starts anything", async () => {
    const service = await begin({ AUTH_MODE: "oidc" });
    expect(await service.exit()).to.equal(1);
    expect(service.lines).to.deep.equal([
      "AUTH_MODE=oidc needs OIDC_ISSUER and OIDC_AUDIENCE: set both. docs/authentication.md says how.",
    ]);
    expect(existsSync(join(dataDir, "logs"))).to.equal(false);
  });

  it("kills a role that does not stop in its share of the time", async () => {
    const service = await begin({ FAKE_HANGS: "simulator" });
    await service.ready();
    const pids = await service.pids();
    const began = Date.now();
    expect(await service.kill("SIGTERM")).to.equal(0);
    expect(Date.now() - began).to.be.below(15_000);
    expect(Object.values(pids).filter(isRunning)).to.deep.equal([]);
  });

  it("takes a signal that comes twice at once as one, and a later one as an order to kill", async () => {
    const service = await begin({ FAKE_HANGS: "worker" });
    await service.ready();
    const pids = await service.pids();
    service.signal("SIGINT");
    service.signal("SIGTERM");
    await until("it stops", () => service.output.includes("Stopping"));
    const began = Date.now();
    const insisting = setInterval(() => service.signal("SIGINT"), 100);
    expect(await service.exit()).to.equal(130);
    clearInterval(insisting);
    expect(Date.now() - began).to.be.within(500, 3_000);
    await until("nothing is left", () => !Object.values(pids).some(isRunning));
  });

  it("leaves no process behind when it is killed, and can be started again at once", async () => {
    const first = await begin();
    await first.ready();
    const pids = await first.pids();
    await first.kill("SIGKILL");
    const second = new Service(program(), dataDir, first.ports);
    services.push(second);
    await second.ready();
    expect(second.lines.at(-1)).to.equal("ready");
    await until("nothing of the first is left", () => !Object.values(pids).some(isRunning));
    expect(await second.kill("SIGTERM")).to.equal(0);
  });

  it("refuses a data folder and ports that are in use, before it starts anything", async () => {
    const first = await begin();
    await first.ready();
    const { supervisor } = await first.pids();
    const sameFolder = await begin();
    expect(await sameFolder.exit()).to.equal(1);
    expect(sameFolder.lines).to.deep.equal([
      `${dataDir} is in use by process ${supervisor}: stop that one or set DATA_DIR to another folder.`,
    ]);
    const samePort = new Service(program(), join(dataDir, "another"), first.ports);
    services.push(samePort);
    expect(await samePort.exit()).to.equal(1);
    expect(samePort.lines).to.deep.equal([
      `Port ${first.ports.api} is in use: stop what listens there or set API_PORT. ` +
        `Port ${first.ports.simulator} is in use: stop what listens there or set SIMULATOR_PORT.`,
    ]);
    expect(await first.kill("SIGTERM")).to.equal(0);
  });
});
