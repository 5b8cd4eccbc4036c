import { createServer } from "node:http";
import * as E from "fp-ts/Either";
import { isRoleName } from "../../src/commands/messages";
import { runRole, type StartRole } from "../../src/commands/run-role";
import { start } from "../../src/commands/start";
import { startTemporal } from "../../src/commands/temporal";
import { readConfig } from "../../src/config";
import { StartupError } from "../../src/startup-error";

/**
 * Stands for the roles under the real supervisor, all but the embedded Temporal server. FAKE_FAILS names roles that
 * cannot start, FAKE_STALLS one that never becomes ready, FAKE_HANGS one that does not stop.
 */
const fakeRole: StartRole = async (config, log) => {
  const role = process.argv[2] ?? "";
  if (process.env["FAKE_FAILS"]?.split(",").includes(role)) throw new StartupError(`The ${role} has no wings.`);
  const port = { api: config.api.port, simulator: config.simulator.port }[role];
  const server = createServer((_, response) => response.end(String(process.pid)));
  if (port !== undefined) await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const idle = setInterval(() => undefined, 60_000);
  log.warn("a warning of %s", role);
  if (process.env["FAKE_STALLS"] === role) await new Promise(() => undefined);
  return {
    ...(port !== undefined && { url: `http://127.0.0.1:${port}` }),
    stop: async () => {
      clearInterval(idle);
      server.closeAllConnections();
      server.close();
      if (process.env["FAKE_HANGS"] === role) await new Promise(() => setInterval(() => undefined, 60_000));
    },
  };
};

const config = readConfig();
if (E.isLeft(config)) throw new Error(config.left.join("\n"));
const name = process.argv[2];
// The roles are run as this process is.
const program = [...process.execArgv, __filename];
const role = name === "temporal" ? startTemporal : fakeRole;
const running = isRoleName(name)
  ? runRole(name, () => Promise.resolve(role), config.right, process.argv.slice(3))
  : start(config.right, program);
void running.then((code) => process.exit(code));
