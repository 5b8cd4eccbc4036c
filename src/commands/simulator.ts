import { join } from "node:path";
import * as E from "fp-ts/Either";
import { readSimulatorConfig } from "../simulator/config/simulator-config";
import { startSimulator } from "../simulator/start-simulator";
import { StartupError } from "../startup-error";
import { checkPorts } from "./check-ports";
import type { StartRole } from "./run-role";

const host = "127.0.0.1";

/** The component manager simulator, with its state in DATA_DIR. */
export const startSimulatorRole: StartRole = async ({ simulator, dataDir }, log) => {
  const { configFile, port, hostSeconds } = simulator;
  const simulated = readSimulatorConfig(configFile);
  if (E.isLeft(simulated)) {
    throw new StartupError(
      `SIMULATOR_CONFIG cannot be used: ${simulated.left.join(" ")} Correct it or set SIMULATOR_CONFIG.`,
    );
  }
  await checkPorts([{ host, port, variable: "SIMULATOR_PORT" }]);
  const running = await startSimulator({
    host,
    port,
    config: simulated.right,
    stateFile: join(dataDir, "simulator.json"),
    hostSeconds,
    log: (fields, message) => log.info(fields, message),
  });
  return { url: running.url, stop: () => running.close() };
};
