// `npm run check`: everything that is known to be wrong without running the service. Each tool counts as one test; the
// last line is `N passed, N failed, N skipped`.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { install } from "./install.mjs";
import { withLock } from "./lock.mjs";
import { root, runScript } from "./run.mjs";
import { totalsLine } from "./totals.mjs";

const tools = {
  lint: ["eslint", "--max-warnings", "0", "."],
  format: ["prettier", "--check", "--log-level", "warn", "."],
  types: ["tsc", "-p", "."],
  "types of Workflows": ["tsc", "-p", "workflows", "--noEmit"],
  "types of the console": ["tsc", "-p", "src/console"],
  "who may import whom": ["depcruise", "src", "workflows", "activities", "test"],
  "dead code": ["knip"],
};

await runScript(async (signal) => {
  const told = { say: (line) => console.error(line), signal };
  await withLock(join(root, ".data", "prepare.lock"), told, () => install(told));
  const totals = { passed: 0, failed: 0, skipped: 0 };
  const run = async (what) => {
    const { code, output } = await runTool(tools[what], signal);
    if (signal.aborted) return;
    totals[code === 0 ? "passed" : "failed"] += 1;
    console.log(`${output}${code === 0 ? "ok  " : "FAIL"}  ${what}`);
  };
  // Lint takes about as long as all the others, and each works on one processor.
  const others = Object.keys(tools).filter((what) => what !== "lint");
  await Promise.all([run("lint"), others.reduce((before, what) => before.then(() => run(what)), Promise.resolve())]);
  if (signal.aborted) return 1;
  console.log(totalsLine(totals));
  return totals.failed > 0 ? 1 : 0;
});

/** Runs a tool; gives its exit code and its output. */
function runTool([program, ...args], signal) {
  return new Promise((resolve) => {
    const child = spawn(join(root, "node_modules", ".bin", program), args, {
      cwd: root,
      signal,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (output += text));
    child.once("error", (error) => resolve({ code: 1, output: `${output}${error.message}\n` }));
    child.once("close", (code) => resolve({ code, output }));
  });
}
