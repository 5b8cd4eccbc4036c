// `npm run bench [-- --quick | --postgres | --json FILE | …]`: prepares this checkout, then measures the service against bare
// Temporal on the same server (docs/performance.md). Its exit code is that of the benchmark.
import { spawn } from "node:child_process";
import { prepare } from "./prepare.mjs";
import { root, runScript } from "./run.mjs";

await runScript(async (signal) => {
  const args = process.argv.slice(2);
  const tools = await prepare({
    signal,
    temporalCli: true,
    production: args.includes("--postgres"),
    // Without `--only` the quick run measures nothing at a distance.
    network: !args.includes("--quick") || args.includes("task-at-a-distance"),
  });
  const child = spawn(process.execPath, ["--import", "tsx", "bench/run-bench.ts", ...args], {
    cwd: root,
    env: {
      ...process.env,
      TEMPORAL_CLI_PATH: tools.temporalCli,
      ...(tools.toxiproxy && { TOXIPROXY: tools.toxiproxy }),
      ...(tools.postgresql && {
        POSTGRESQL: tools.postgresql,
        POSTGRESQL_CLIENTS: tools.postgresqlClients,
        TEMPORAL_SERVER: tools.temporalServer,
      }),
    },
    detached: true,
    stdio: "inherit",
  });
  // What it has started is in its process group, and ends with it.
  const endAll = () => {
    try {
      process.kill(-child.pid, "SIGTERM");
    } catch {
      // Nothing is left of it.
    }
  };
  signal.addEventListener("abort", endAll);
  const code = await new Promise((resolve) => child.once("exit", resolve));
  endAll();
  return code ?? 1;
});
