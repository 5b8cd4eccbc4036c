import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startDevServer } from "../../src/temporal/dev-server";
import { freePorts } from "../../test/support/service/deployment";
import type { StandaloneBenchmark } from "../benchmark";
import { alternate, median, timed } from "../measure";

const root = resolve(__dirname, "../..");

/** `npm start` in a checkout where it has run before, against the embedded server that it contains. */
export const startTime: StandaloneBenchmark = {
  name: "start",
  slow: true,
  measureAlone: async ({ quick, postgres }) => {
    // There is no embedded server then.
    if (postgres) return [];
    const folder = mkdtempSync(join(tmpdir(), "ums-bench-start-"));
    try {
      await npmStart(folder);
      const { ours, reference } = await alternate(
        quick ? 2 : 5,
        () => npmStart(folder),
        () => serverAlone(folder),
      );
      return [
        {
          id: "start",
          title: "npm start, second time, to ready, beyond the embedded server alone",
          value: median(ours) / 1000,
          reference: median(reference) / 1000,
          unit: "s",
          judged: "difference",
          target: { atMost: 8 },
        },
      ];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function npmStart(folder: string): Promise<number> {
  const ports = await freePorts("API_PORT", "TEMPORAL_PORT", "TEMPORAL_UI_PORT", "SIMULATOR_PORT");
  const variables = Object.entries(ports).map(([name, port]) => `${name}=${port}`);
  const began = performance.now();
  // The environment by `env`, so that the rest of it is whatever this process has.
  const child = spawn("env", ["-u", "TEMPORAL_ADDRESS", ...variables, `DATA_DIR=${folder}`, "npm", "start"], {
    cwd: root,
    detached: true,
  });
  const ended = new Promise<void>((resume) => child.once("exit", () => resume()));
  let printed = "";
  const ready = new Promise<void>((resume, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        printed += chunk.toString();
        if (/^ready$/m.test(printed)) resume();
      });
    void ended.then(() => reject(new Error(`npm start ended:\n${printed}`)));
  });
  try {
    await ready;
    return performance.now() - began;
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

async function serverAlone(folder: string): Promise<number> {
  const { port, uiPort } = await freePorts("port", "uiPort");
  const { milliseconds, result: server } = await timed(() =>
    startDevServer({
      cliPath: process.env["TEMPORAL_CLI_PATH"] ?? "temporal",
      dataDir: folder,
      port,
      uiPort,
      namespace: "default",
      onLine: () => undefined,
    }),
  );
  await server.stop();
  return milliseconds;
}
