// `npm run check`: everything that is known to be wrong without running the service. Each tool counts as one test; the
// last line is `N passed, N failed, N skipped`.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { install } from "./install.mjs";
import { withLock } from "./lock.mjs";
import { root, runScript } from "./run.mjs";
import { totalsLine } from "./totals.mjs";

const tools = {
  format: ["prettier", "--check", "--log-level", "warn", "."],
  types: ["tsc", "-p", "."],
  "types of Workflows": ["tsc", "-p", "workflows", "--noEmit"],
  "types of the console": ["tsc", "-p", "src/console"],
  lint: ["eslint", "--max-warnings", "0", "."],
  "who may import whom": ["depcruise", "src", "workflows", "activities", "test"],
  "dead code": ["knip"],
};

await runScript(async (signal) => {
  const told = { say: (line) => console.error(line), signal };
  await withLock(join(root, ".data", "prepare.lock"), told, () => install(told));
  const totals = { passed: 0, failed: 0, skipped: 0 };
  for (const [what, [program, ...args]] of Object.entries(tools)) {
    const code = await runTool(program, args, signal);
    if (signal.aborted) return 1;
    totals[code === 0 ? "passed" : "failed"] += 1;
    console.log(`${code === 0 ? "ok  " : "FAIL"}  ${what}`);
  }
  console.log(totalsLine(totals));
  return totals.failed > 0 ? 1 : 0;
});

function runTool(program, args, signal) {
  return new Promise((resolve) => {
    const child = spawn(join(root, "node_modules", ".bin", program), args, {
      cwd: root,
      signal,
      stdio: ["ignore", "inherit", "inherit"],
    });
    child.once("error", (error) => {
      if (!signal.aborted) console.error(error.message);
      resolve(1);
    });
    child.once("close", resolve);
  });
}
