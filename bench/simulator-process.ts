import { isLeft } from "fp-ts/Either";
import { readSimulatorConfig } from "../src/simulator/config/simulator-config";
import { startSimulator } from "../src/simulator/start-simulator";

// A component manager that is in nobody's way: a process of its own, which keeps all in memory. It tells its URL to whoever has
// forked it, and ends with that process.
void main(process.argv[2] ?? "");

async function main(configFile: string): Promise<void> {
  process.on("disconnect", () => process.exit());
  const config = readSimulatorConfig(configFile);
  if (isLeft(config)) throw new Error(config.left.join("\n"));
  const options = { host: "127.0.0.1", port: 0, config: config.right, hostSeconds: 0 };
  const { url } = await startSimulator({ ...options, log: () => undefined });
  process.send?.({ url });
}
