import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import { lazyClient } from "../src/temporal/connection";
import { temporalCluster } from "../test/e2e/production/temporal-cluster";
import { freePorts, until } from "../test/support/service/deployment";
import { NpmStart } from "../test/support/service/npm-start";
import { ProductionDeployment } from "../test/support/service/production-deployment";
import { ServiceUnderTest } from "../test/support/service/service-under-test";
import { type Fleet, type FleetOptions, makeFleet, makeSimulatorConfig } from "./fleet";
import { sum } from "./measure";
import { processorsUsed } from "./process-usage";
import { BenchSimulator } from "./simulator";

/** Of one processor; pollers and timers use as much of it. */
const idle = 0.3;

/** A request that a slow machine would refuse waits instead, so that it counts as slow and not as an error. */
const slowMachine = { LOAD_WAIT_MILLISECONDS: "60000", START_MILLISECONDS: "60000" };

/** The server that a fixture runs on. */
export interface ServerChoice {
  /** PostgreSQL and a Temporal server instead of the embedded one. */
  readonly postgres: boolean;
}

/** What the processor time of a run is told apart by. The embedded Temporal holds its own database. */
export type Role = "api" | "worker" | "temporal" | "database";

/** The service on a fleet of its own, and a Temporal client of the same server for references. */
export class Fixture {
  constructor(
    readonly service: ServiceUnderTest,
    readonly temporal: Client,
    readonly fleet: Fleet,
    readonly simulator: BenchSimulator,
    private readonly workerMetrics: string,
  ) {}

  /** Process ids by role; a role that the deployment does not have has none. */
  pids(...roles: readonly Role[]): number[] {
    const { api = [], worker = [], temporal = [], temporalServer = [], postgresql = [] } = this.service.processes();
    const byRole = { api, worker, temporal: [...temporal, ...temporalServer], database: postgresql };
    return roles.flatMap((role) => byRole[role]);
  }

  /** Until all that was started before is done: nothing is measured while other work goes on. */
  async untilIdle(): Promise<void> {
    await until("the service is idle", async () => (await this.busy(400)) < idle, 600);
  }

  /** Until the service does no more than what running upgrades need all the time. */
  async untilSteady(): Promise<void> {
    let before = Infinity;
    await until(
      "the load of the service is steady",
      async () => {
        const now = await this.busy(2000);
        const steady = now < idle || now > before * 0.9;
        before = now;
        return steady;
      },
      600,
    );
  }

  /** Processors' worth of the whole service and its Temporal. */
  private busy(milliseconds: number): Promise<number> {
    return processorsUsed(this.pids("api", "worker", "temporal", "database"), milliseconds);
  }

  /** HTTP requests that the worker has sent to component managers until now. */
  async managerRequests(): Promise<number> {
    const text = await (await fetch(`http://${this.workerMetrics}/metrics`)).text();
    const counts = text.matchAll(/^ums_component_manager_call_duration_seconds_count\S* (\S+)$/gm);
    return sum([...counts].map(([, count]) => Number(count)));
  }
}

/**
 * Starts the service on a fleet, lets `work` measure it, and removes both. Hosts take no time unless the simulator is told
 * otherwise.
 */
export async function withFixture<A>(
  options: FleetOptions,
  { postgres }: ServerChoice,
  work: (fixture: Fixture) => Promise<A>,
): Promise<A> {
  const folder = mkdtempSync(join(tmpdir(), "ums-bench-"));
  const simulator = await BenchSimulator.start(makeSimulatorConfig(folder, options));
  try {
    return await withService(makeFleet(folder, options, simulator.url), simulator, postgres, work);
  } finally {
    simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withService<A>(
  fleet: Fleet,
  simulator: BenchSimulator,
  postgres: boolean,
  work: (fixture: Fixture) => Promise<A>,
): Promise<A> {
  const { metrics } = await freePorts("metrics");
  const workerMetrics = `127.0.0.1:${metrics}`;
  const variables = { ...slowMachine, WORKER_METRICS_ADDRESS: workerMetrics, ...fleet.variables };
  const deployment = postgres
    ? await ProductionDeployment.prepare(variables, { apis: 1, workers: 1 })
    : await NpmStart.prepare(variables);
  const service = await ServiceUnderTest.on(deployment).catch(async (error: unknown) => {
    await deployment.discard();
    throw error;
  });
  const { address, namespace, tls } = deployment.temporal;
  // With the service's own settings of a connection: long lists are larger than a client accepts by itself.
  const temporal = lazyClient({ address, namespace, connection: { address, ...(tls && { tls }) } }, {});
  try {
    return await work(new Fixture(service, temporal, fleet, simulator, workerMetrics));
  } finally {
    await temporal.connection.close();
    // Its histories are not replayed: those of the reference are of other Workflows, and others are tens of thousands.
    await service.discardUnsound();
  }
}

/** Stops the Temporal server that fixtures on PostgreSQL share. */
export async function stopSharedServer(): Promise<void> {
  await (await temporalCluster()).discard();
}
