import { createServer } from "node:net";
import type { TLSConfig } from "@temporalio/client";

/** The processes of a deployment, by the names of `processes.json`. */
export type ProcessName = "supervisor" | "temporal" | "temporalServer" | "simulator" | "worker" | "api" | "postgresql";

/** A line of a role's log. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
}

/** Where a deployment's Temporal is. */
export interface TemporalPlace {
  readonly address: string;
  readonly namespace: string;
  /** Where it lets nobody in without a certificate. */
  readonly tls?: TLSConfig;
}

/** A way to run the service whole, as the tests see it: `npm start`, or several processes on PostgreSQL. */
export interface Deployment {
  /** Every API process; any of them answers any request. */
  readonly apiUrls: readonly string[];
  readonly simulatorUrl: string;
  /** The Web UI; undefined where the deployment has none. */
  readonly temporalUiUrl: string | undefined;
  readonly temporal: TemporalPlace;
  /** What it has printed since its last start. */
  readonly printed: string;
  /** The lines of a role's log. */
  log(role: "api" | "worker"): LogLine[];
  /** Process ids as they are now. */
  processes(): Partial<Record<ProcessName, readonly number[]>>;
  /** Starts all of it, also again after a stop, on the same ports and data; resolves when it is ready. */
  start(): Promise<void>;
  /** Ends it by a signal; resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Stops it and removes its data. */
  discard(): Promise<void>;
}

/**
 * Ports that are free now and stay so: below the range from which the system takes the ports of outgoing
 * connections, and no two test processes begin to look at the same place.
 */
export async function freePorts<const N extends readonly string[]>(...names: N): Promise<Record<N[number], number>> {
  const ports: [string, number][] = [];
  for (const name of names) {
    let port: number;
    // Kept apart from the next one, which another caller may have moved on meanwhile.
    do port = nextPort = nextPort >= 31_900 ? 20_000 : nextPort + 1;
    while (!(await isFree(port)));
    ports.push([name, port]);
  }
  return Object.fromEntries(ports) as Record<N[number], number>;
}

let nextPort = 20_000 + ((process.pid * 37) % 11_900);

function isFree(port: number): Promise<boolean> {
  return new Promise((resume) => {
    const server = createServer();
    server.once("error", () => resume(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resume(true)));
  });
}

/** Waits for a condition, looking again soon; fails with its name after a time. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, seconds = 60): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`After ${seconds} s still not: ${what}`);
    await pause();
  }
}

/** Between two looks at a condition. */
export function pause(): Promise<void> {
  return new Promise((resume) => setTimeout(resume, 50));
}

/** The environment without what would lead the service to another Temporal. */
export function withoutTemporal(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("TEMPORAL_ADDRESS")));
}
