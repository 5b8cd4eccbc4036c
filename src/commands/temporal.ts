import type { Logger } from "pino";
import type { Config } from "../config";
import { isLoopback } from "../loopback";
import { StartupError } from "../startup-error";
import { startDevServer } from "../temporal/dev-server";
import type { StartRole } from "./run-role";

/** The embedded Temporal server, wrapped so that it ends with this process. Takes the path of the CLI. */
export const startTemporal: StartRole = async (config, log, [cliPath]) => {
  if (cliPath === undefined)
    throw new StartupError(
      "Give the path of the Temporal CLI: npm start -- temporal PATH. `npm start` alone finds it and prints it.",
    );
  const { port, uiPort, namespace } = config.temporal;
  const server = await startDevServer({
    ...{ cliPath, dataDir: config.dataDir, port, uiPort, namespace },
    ...(config.payloadKeysFile !== undefined && { codecEndpoint: `${apiOf(config)}/codec` }),
    onLine: (line) => logServerLine(log, line),
  });
  return {
    url: server.uiUrl,
    processes: { temporalServer: server.pid },
    failed: server.ended.then((how) => `The Temporal server ended (${how}).`),
    stop: () => server.stop(),
  };
};

/** Where a browser on this machine finds the API. */
function apiOf({ api }: Config): string {
  return `${api.tls ? "https" : "http"}://${isLoopback(api.host) ? api.host : "127.0.0.1"}:${api.port}`;
}

/** The server warns of connections between its own parts whenever it starts or stops: nothing for an operator to do. */
const levels = { warn: "info", error: "error", fatal: "error" } as const;

/** The server's own JSON has named levels. */
function logServerLine(log: Logger, line: string): void {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    log.debug(line);
    return;
  }
  const { level, msg, time: _, ...fields } = entry;
  const name = String(level).toLowerCase();
  log[name in levels ? levels[name as keyof typeof levels] : "debug"](fields, String(msg));
}
