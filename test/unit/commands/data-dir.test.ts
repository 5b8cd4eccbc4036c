import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { claimDataDir } from "../../../src/commands/data-dir";

describe("the data folder", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "data-dir-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("is made with its parents, claimed, and given back without a trace of the claim", () => {
    const dataDir = join(folder, "a/b");
    const claim = claimDataDir(dataDir);
    expect(claim.predecessorWasKilled).to.equal(false);
    claim.writeProcesses({ supervisor: 1 });
    expect(JSON.parse(readFileSync(join(dataDir, "processes.json"), "utf8"))).to.deep.equal({ supervisor: 1 });
    claim.release();
    expect(readdirSync(dataDir)).to.deep.equal(["logs"]);
  });

  it("is refused while its owner runs, and taken over once the owner is gone", async () => {
    const script = `require(${JSON.stringify(join(__dirname, "../../../src/commands/data-dir.ts"))}).claimDataDir(${JSON.stringify(folder)});
      console.log("claimed"); setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ["--import", "tsx", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => owner.stdout.once("data", resolve));
    expect(() => claimDataDir(folder)).to.throw(
      `${folder} is in use by process ${owner.pid}: stop that one or set DATA_DIR`,
    );
    const ended = new Promise((resolve) => owner.once("exit", resolve));
    owner.kill("SIGKILL");
    await ended;
    const claim = claimDataDir(folder);
    expect(claim.predecessorWasKilled).to.equal(true);
    claim.release();
  });

  it("is taken over where the owner's process id now belongs to something else", () => {
    writeFileSync(join(folder, "start.lock"), `${process.ppid} node main.js start`);
    expect(claimDataDir(folder).predecessorWasKilled).to.equal(true);
  });

  it("that cannot be made is told in one line that names the variable", () => {
    writeFileSync(join(folder, "file"), "");
    expect(() => claimDataDir(join(folder, "file/below"))).to.throw(
      /^Cannot write to .*: make it writable or set DATA_DIR\.$/,
    );
    if (existsSync("/proc")) expect(() => claimDataDir("/proc/nothing/here")).to.throw(/^Cannot write to /);
  });

  it("loses a Temporal server that a killed predecessor has left on its database, and nothing else", async () => {
    const idle = (argument: string) =>
      spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "--", argument], { stdio: "ignore" });
    const left = idle(join(folder, "temporal.sqlite"));
    const other = idle("another.sqlite");
    // A process shows its command line only once it has been loaded.
    await Promise.all([left, other].map((child) => new Promise((resolve) => child.once("spawn", resolve))));
    const ended = new Promise((resolve) => left.once("exit", (_, signal) => resolve(signal)));
    writeFileSync(join(folder, "start.lock"), "999999999 gone");
    writeFileSync(join(folder, "processes.json"), JSON.stringify({ temporalServer: left.pid, worker: other.pid }));
    claimDataDir(folder);
    expect(await ended).to.equal("SIGKILL");
    expect(other.kill(0)).to.equal(true);
    other.kill("SIGKILL");
  });
});
