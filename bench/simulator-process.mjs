// The simulated component manager in a process of its own, with its state in memory. It sends its URL to the process that forked
// it, and ends with that process. It runs what was built, as `npm start` does.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { readSimulatorConfig } = require("../dist/src/simulator/config/simulator-config.js");
const { startSimulator } = require("../dist/src/simulator/start-simulator.js");

process.on("disconnect", () => process.exit());
const config = readSimulatorConfig(process.argv[2] ?? "");
if (config._tag === "Left") throw new Error(config.left.join("\n"));
const options = { host: "127.0.0.1", port: 0, config: config.right, hostSeconds: 0 };
const { url } = await startSimulator({ ...options, log: () => undefined });
process.send?.({ url });
