import { join } from "node:path";
import { startSimulator } from "../simulator/start-simulator";
import { checkPorts } from "./check-ports";
import { loadSimulatorConfig } from "./operator-files";
import type { StartRole } from "./run-role";

/** The component manager simulator, with its state in DATA_DIR. */
export const startSimulatorRole: StartRole = async (config, log) => {
  const { simulator, dataDir } = config;
  const { host, port, hostSeconds } = simulator;
  const simulated = loadSimulatorConfig(config);
  await checkPorts([{ host, port, variable: "SIMULATOR_PORT" }]);
  const running = await startSimulator({
    host,
    port,
    config: simulated,
    stateFile: join(dataDir, "simulator.json"),
    hostSeconds,
    log: (fields, message) => log.info(fields, message),
  });
  return { url: running.url, stop: () => running.close() };
};
