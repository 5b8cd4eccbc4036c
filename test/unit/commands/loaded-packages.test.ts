import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { expect } from "chai";

const commands = resolve(__dirname, "../../../src/commands");

/** The packages that a program loads before it does anything. */
function packagesOf(program: string): Set<string> {
  const script = `require(${JSON.stringify(resolve(commands, program))}); console.log(JSON.stringify(Object.keys(require.cache)))`;
  const output = execFileSync(process.execPath, ["--import", "tsx", "--eval", script], { encoding: "utf8" });
  const files = JSON.parse(output) as string[];
  return new Set(files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []));
}

describe("what a process loads at its start", function () {
  this.timeout(60_000);

  it("is nothing of the worker's engine in the API", () => {
    const packages = packagesOf("api.ts");
    expect(packages).to.include("@temporalio/client");
    expect(packages).not.to.include("@temporalio/worker");
    expect(packages).not.to.include("@temporalio/core-bridge");
  });

  it("is no client of Temporal before the embedded server is started, nor in the supervisor", () => {
    for (const program of ["temporal.ts", "start.ts"]) {
      const packages = packagesOf(program);
      expect(packages, program).to.include("@temporalio/common");
      expect(packages, program).not.to.include("@temporalio/client");
    }
  });
});
