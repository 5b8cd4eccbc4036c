import type { Config } from "../config";
import { isLoopback } from "../loopback";
import { StartupError } from "../startup-error";
import { startDevServer } from "../temporal/dev-server";
import { createServerLog } from "./foreign-log";
import type { StartRole } from "./run-role";

/** The embedded Temporal server, wrapped so that it ends with this process. Takes the path of the CLI. */
export const startTemporal: StartRole = async (config, log, [cliPath]) => {
  if (cliPath === undefined)
    throw new StartupError(
      "Give the path of the Temporal CLI: npm start -- temporal PATH. `npm start` alone finds it and prints it.",
    );
  const { port, uiPort, namespace } = config.temporal;
  const serverLog = createServerLog(log);
  const server = await startDevServer({
    ...{ cliPath, dataDir: config.dataDir, port, uiPort, namespace },
    ...(config.payloadKeysFile !== undefined && { codecEndpoint: `${apiOf(config)}/codec` }),
    onLine: (line) => serverLog.write(line),
  });
  return {
    url: server.uiUrl,
    processes: { temporalServer: server.pid },
    failed: server.ended.then((how) => `The Temporal server ended (${how}).`),
    stop: async () => {
      await server.stop();
      serverLog.end();
    },
  };
};

/** Where a browser on this machine finds the API. */
function apiOf({ api }: Config): string {
  return `${api.tls ? "https" : "http"}://${isLoopback(api.host) ? api.host : "127.0.0.1"}:${api.port}`;
}
