/**
 * A worker of the real Workflows and of fake Activities, as a process that a test can kill and freeze:
 *
 *     node --import tsx test/resilience/stress/stress-worker.ts ADDRESS CACHED
 *
 * ADDRESS is Temporal's, CACHED how many Workflows it keeps in memory. Prints `ready` when it runs; TERM stops it.
 */
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { taskQueue } from "../../../workflows/messages";
import { FakeActivities, hostFailure, sampleHosts, upgraded } from "../../support/fake-activities";

const root = resolve(__dirname, "../../..");

async function main(): Promise<void> {
  const [address = "", cached = "0"] = process.argv.slice(2);
  // What the Workflows log at WARN and above is what a test has to see.
  Runtime.install({ logger: new DefaultLogger("WARN"), telemetryOptions: { logging: { filter: "OFF" } } });
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    taskQueue,
    workflowBundle: { codePath: resolve(root, "dist/workflow-bundle.js") },
    dataConverter: { payloadConverterPath: resolve(root, "dist/workflows/payload-converter.js") },
    activities: stressActivities().implementation(),
    maxCachedWorkflows: Number(cached),
    shutdownGraceTime: 0,
  });
  process.once("SIGTERM", () => worker.shutdown());
  process.stdout.write("ready\n");
  await worker.run();
}

/** Of each cluster so many hosts as the digit with which its id ends; what fails and what is slow is chance by ids. */
function stressActivities(): FakeActivities {
  return new FakeActivities({
    readClusterHosts: ({ cluster: { resourceId } }) =>
      Promise.resolve(sampleHosts(Number.parseInt(resourceId.at(-1) ?? "", 16) || 1)),
    remediateHost: async (input) => {
      const chance = chanceOf(`${input.cluster.resourceId}/${input.host.host}`);
      if (chance < 0.02) throw hostFailure(input);
      if (chance > 0.97) await pause(800);
      return upgraded(input);
    },
    lookAtHealth: async ({ cluster: { resourceId }, hosts: [host] }) => ({
      healthy: chanceOf(`health of ${resourceId}/${host?.host}`) > 0.03,
    }),
  });
}

/** A number of 0 to 1, the same for the same text. */
function chanceOf(text: string): number {
  let hash = 2_166_136_261;
  for (const letter of text) hash = Math.imul(hash ^ letter.charCodeAt(0), 16_777_619) >>> 0;
  return hash / 2 ** 32;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
