// `npm start`: makes this checkout ready, then runs the service in this same process, so that signals reach it directly.
import { createRequire } from "node:module";
import { join } from "node:path";
import { prepare } from "./prepare.mjs";
import { root, runScript } from "./run.mjs";

endWithNpm();
await runScript(async (signal, release) => {
  const [command = "start"] = process.argv.slice(2);
  const { temporalCli } = await prepare({ signal, temporalCli: command === "start" && !process.env.TEMPORAL_ADDRESS });
  if (signal.aborted) return 1;
  const program = join(root, "dist", "src", "main.js");
  const { main } = createRequire(import.meta.url)(program);
  const running = main(process.argv.slice(2), [program], temporalCli);
  release();
  process.exit(await running);
});

/** A killed npm passes nothing on; what it has started must end all the same. */
function endWithNpm() {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, 500);
  watch.unref();
}
