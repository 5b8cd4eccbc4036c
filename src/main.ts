import * as E from "fp-ts/Either";
import { isRoleName, type RoleName } from "./commands/messages";
import type { StartRole } from "./commands/run-role";
import { type Config, readConfig } from "./config";

const usage = `Usage: npm start -- [command]

  start      everything: Temporal (unless TEMPORAL_ADDRESS is set), simulator, worker and API; the default
  api        the HTTP API
  worker     the Temporal Worker, which runs the upgrades
  simulator  the component manager simulator

  test-notification RECEIVER  sends a test to a notification receiver of the inventory
  hash-password  reads a password and writes its hash for AUTH_USERS_FILE

Configuration is by environment variables: docs/configuration.md.`;

/** Loaded when asked for, because an API does not need what a Worker does. */
const roles: Record<RoleName, () => Promise<StartRole>> = {
  temporal: async () => (await import("./commands/temporal.js")).startTemporal,
  simulator: async () => (await import("./commands/simulator.js")).startSimulatorRole,
  worker: async () => (await import("./commands/worker.js")).startWorkerRole,
  api: async () => (await import("./commands/api.js")).startApiRole,
};

/**
 * Runs a command to its end and resolves to the exit code: 2 for a command that there is not, 1 for one that cannot
 * start.
 *
 * @param args the command and its arguments
 * @param program the arguments that make Node run this program again, for the processes of `start`
 * @param temporalCli the Temporal CLI, where it has been looked for already
 */
export async function main(
  args: readonly string[],
  program: readonly string[] = [__filename],
  temporalCli?: string,
): Promise<number> {
  const [command = "start", ...rest] = args;
  if (command === "--help" || command === "-h" || command === "help") {
    console.log(usage);
    return 0;
  }
  if (command === "hash-password") {
    const { hashPasswordCommand } = await import("./commands/hash-password.js");
    return hashPasswordCommand({ input: process.stdin, output: process.stdout, errors: process.stderr });
  }
  if (command !== "start" && command !== "test-notification" && !isRoleName(command)) {
    console.error(`Unknown command ${JSON.stringify(command)}.\n\n${usage}`);
    return 2;
  }
  const config = readConfig();
  if (E.isLeft(config)) {
    for (const problem of config.left) console.error(problem);
    return 1;
  }
  if (command === "test-notification") {
    const { testNotificationCommand } = await import("./commands/test-notification.js");
    return testNotificationCommand(config.right, rest, { output: process.stdout, errors: process.stderr });
  }
  return command === "start" ? runAll(config.right, program, temporalCli) : runOne(command, config.right, rest);
}

async function runAll(config: Config, program: readonly string[], temporalCli?: string): Promise<number> {
  const { start } = await import("./commands/start.js");
  return start(config, program, temporalCli);
}

async function runOne(name: RoleName, config: Config, args: readonly string[]): Promise<number> {
  const { runRole } = await import("./commands/run-role.js");
  return runRole(name, roles[name], config, args);
}

if (require.main === module) void main(process.argv.slice(2)).then((code) => process.exit(code));
