import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { useBundledProgram } from "../../support/bundled-program";

let program: () => string;

/** Runs the program to its end, with nothing in the environment but what is given. */
async function run(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [program(), ...args], {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => (out += String(chunk)));
  child.stderr.on("data", (chunk) => (err += String(chunk)));
  const code = await new Promise((done) => child.once("close", done));
  return { code, out, err: err.trimEnd().split("\n") };
}

describe("the command line", function () {
  this.timeout(60_000);
  program = useBundledProgram(resolve(__dirname, "../../../src/main.ts"));

  it("tells its commands when asked", async () => {
    for (const flag of ["--help", "-h"]) {
      const { code, out } = await run([flag]);
      expect(code).to.equal(0);
      for (const command of ["start", "api", "worker", "simulator", "test-notification", "hash-password"])
        expect(out).to.match(new RegExp(`^  ${command} `, "m"));
    }
  });

  it("refuses a command that there is not, with its usage", async () => {
    const { code, out, err } = await run(["upgrade"]);
    expect(code).to.equal(2);
    expect(out).to.equal("");
    expect(err[0]).to.equal('Unknown command "upgrade".');
    expect(err.join("\n")).to.contain("Usage:");
  });

  it("refuses a configuration that cannot be used, one line a problem and nothing else", async () => {
    const { code, err } = await run(["api"], { API_PORT: "x", AUTH_MODE: "none" });
    expect(code).to.equal(1);
    expect(err).to.deep.equal([
      'API_PORT="x": expected a whole number from 1 to 65535.',
      'AUTH_MODE="none": expected one of dev, local, oidc.',
    ]);
  });

  it("hashes a password from the standard input for the users file, and says nothing else", async () => {
    const child = spawn(process.execPath, [program(), "hash-password"], {
      env: { PATH: process.env["PATH"] },
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.end("a password of somebody\n");
    let out = "";
    child.stdout.on("data", (chunk) => (out += String(chunk)));
    expect(await new Promise((done) => child.once("close", done))).to.equal(0);
    expect(out).to.match(/^\$scrypt\$ln=\d+,r=8,p=1\$[\w+/]+\$[\w+/]+\n$/);
  });

  it("does not start an API that lacks the key of its tokens, and says how to make one", async () => {
    const { code, out } = await run(["api"], { AUTH_MODE: "local", AUTH_USERS_FILE: "/nowhere/users.yaml" });
    expect(code).to.equal(1);
    expect(out).to.contain("set AUTH_SIGNING_KEY_FILE. docs/authentication.md");
    expect(out.trimEnd().split("\n")).to.have.length(1);
  });

  it("tells in one line which file a role cannot read", async () => {
    const { code, out } = await run(["simulator"], { SIMULATOR_CONFIG: "/nowhere/simulator.yaml" });
    expect(code).to.equal(1);
    expect(out).to.match(/SIMULATOR_CONFIG/);
    expect(out.trimEnd().split("\n")).to.have.length(1);
    expect(out).not.to.contain('"stack"');
  });

  it("says how the embedded server's role is given the CLI", async () => {
    const { code, out } = await run(["temporal"]);
    expect(code).to.equal(1);
    expect(out).to.contain("npm start -- temporal PATH");
  });

  it("ends every problem of a file with one full stop", async () => {
    const folder = mkdtempSync(join(tmpdir(), "main-"));
    try {
      const file = join(folder, "simulator.yaml");
      writeFileSync(file, "clusters:\n  - a: [\n");
      const { out } = await run(["simulator"], { SIMULATOR_CONFIG: file });
      expect(out).to.match(/cannot be used: [^\\]+ at line \d+, column \d+\. Correct it or set SIMULATOR_CONFIG\."/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("starts an API without Temporal, and says in its log and within 3 s in /health/ready what it lacks", async () => {
    const [port, temporal] = [await freePort(), `127.0.0.1:${await freePort()}`];
    const child = spawn(process.execPath, [program(), "api"], {
      env: { PATH: process.env["PATH"], API_PORT: String(port), TEMPORAL_ADDRESS: temporal },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise((done) => child.once("close", done));
    try {
      const lines: { level: number; msg: string }[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(JSON.parse(line) as { level: number; msg: string });
        if (lines.at(-1)?.msg === "ready") break;
      }
      expect(lines.filter(({ level }) => level === 40).map(({ msg }) => msg)).to.include(
        `Temporal at ${temporal} does not answer: start it, or set TEMPORAL_ADDRESS to a running server`,
      );
      const began = Date.now();
      const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
      expect(Date.now() - began).to.be.below(3_000);
      expect(answer.status).to.equal(503);
      expect(await answer.json()).to.deep.include({
        errorCode: "TEMPORAL_UNREACHABLE",
        message: `Temporal at ${temporal} does not answer.`,
      });
    } finally {
      child.kill("SIGTERM");
    }
    expect(await ended).to.equal(0);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
