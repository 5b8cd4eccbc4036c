import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { expect } from "chai";

const program = resolve(__dirname, "../../../src/main.ts");

/** Runs the program to its end, with nothing in the environment but what is given. */
async function run(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, ["--import", "tsx", program, ...args], {
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

  it("tells its commands when asked", async () => {
    for (const flag of ["--help", "-h"]) {
      const { code, out } = await run([flag]);
      expect(code).to.equal(0);
      for (const command of ["start", "api", "worker", "simulator"])
        expect(out).to.match(new RegExp(`^  ${command} `, "m"));
    }
  });

  it("refuses a command that there is not, with its usage", async () => {
    const { code, out, err } = await run(["upgrade"]);
    expect(code).to.equal(2);
    expect(out).to.equal("");
    expect(err[0]).to.equal('There is no command "upgrade".');
    expect(err.join("\n")).to.contain("Usage:");
  });

  it("refuses a configuration that cannot be used, one line a problem and nothing else", async () => {
    const { code, err } = await run(["api"], { API_PORT: "x", AUTH_MODE: "local" });
    expect(code).to.equal(1);
    expect(err).to.deep.equal([
      'API_PORT="x": expected a whole number from 1 to 65535.',
      'AUTH_MODE="local": expected dev (local and oidc are not there yet).',
    ]);
  });

  it("tells in one line which file a role cannot read", async () => {
    const { code, out } = await run(["simulator"], { SIMULATOR_CONFIG: "/nowhere/simulator.yaml" });
    expect(code).to.equal(1);
    expect(out).to.match(/SIMULATOR_CONFIG/);
    expect(out.trimEnd().split("\n")).to.have.length(1);
    expect(out).not.to.contain('"stack"');
  });
});
