import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import { lazyClient } from "../src/temporal/connection";
import { temporalCluster } from "../test/production/temporal-cluster";
import { freePorts, until } from "../test/system/deployment";
import { NpmStart } from "../test/system/npm-start";
import { ProductionDeployment } from "../test/system/production-deployment";
import { ServiceUnderTest } from "../test/system/service-under-test";
import type { Needs } from "./needs";
import { makeFleet, makeSimulatorConfig, type Fleet } from "./fleet";
import { processorsUsed } from "./process-usage";
import { BenchSimulator } from "./simulator";

/** Of one processor; pollers and timers use as much of it. */
const idle = 0.3;

/** A machine that others use too may be slow: what would be refused there is waited for, so that it counts as slow. */
const patience = { LOAD_WAIT_MILLISECONDS: "60000", START_MILLISECONDS: "60000" };

/** What is measured, and on which server. */
export interface StageChoice {
  /** PostgreSQL and a Temporal server instead of the embedded one. */
  readonly postgres: boolean;
  /** Folder of the checkout that is measured, which is built; by default this one. */
  readonly checkout?: string;
}

/** The service on a fleet of its own, and a Temporal client of the same server for references. */
export class Stage {
  constructor(
    readonly service: ServiceUnderTest,
    readonly temporal: Client,
    readonly fleet: Fleet,
    readonly simulator: BenchSimulator,
    private readonly workerMetrics: string,
  ) {}

  /** Process ids of one API and one worker. */
  pids(...names: readonly ("api" | "worker" | "temporal" | "temporalServer" | "postgresql")[]): number[] {
    const running = this.service.processes();
    return names.flatMap((name) => running[name] ?? []);
  }

  /** Until all that was started before is worked off: nobody is to be measured while somebody else's work goes on. */
  async untilIdle(): Promise<void> {
    await until("the service has nothing to do", async () => (await this.busy(400)) < idle, 600);
  }

  /** Until no more is done than what running upgrades need all the time. */
  async untilSteady(): Promise<void> {
    let before = Infinity;
    await until(
      "the service has no more to do than all the time",
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
    const pids = this.pids("api", "worker", "temporal", "temporalServer", "postgresql");
    return processorsUsed(pids, milliseconds);
  }

  /** HTTP requests that the worker has sent to component managers until now. */
  async managerRequests(): Promise<number> {
    const text = await (await fetch(`http://${this.workerMetrics}/metrics`)).text();
    const counts = text.matchAll(/^ums_component_manager_call_duration_seconds_count\S* (\S+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  }
}

/** Starts the service on a fleet, lets `work` measure it, and removes both. Hosts take no time unless the simulator is told so. */
export async function onStage<A>(needs: Needs, where: StageChoice, work: (stage: Stage) => Promise<A>): Promise<A> {
  const folder = mkdtempSync(join(tmpdir(), "ums-bench-"));
  const simulator = await BenchSimulator.start(makeSimulatorConfig(folder, needs));
  try {
    return await onFleet(makeFleet(folder, needs, simulator.url), simulator, where, work);
  } finally {
    simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onFleet<A>(
  fleet: Fleet,
  simulator: BenchSimulator,
  { postgres, checkout }: StageChoice,
  work: (stage: Stage) => Promise<A>,
): Promise<A> {
  const { metrics } = await freePorts("metrics");
  const workerMetrics = `127.0.0.1:${metrics}`;
  const variables = { ...patience, WORKER_METRICS_ADDRESS: workerMetrics, ...fleet.variables };
  const deployment = postgres
    ? await ProductionDeployment.prepare(variables, {
        apis: 1,
        workers: 1,
        ...(checkout !== undefined && { checkout }),
      })
    : await NpmStart.prepare(variables, checkout);
  const service = await ServiceUnderTest.on(deployment).catch(async (error: unknown) => {
    await deployment.discard();
    throw error;
  });
  const { address, namespace, tls } = deployment.temporal;
  // With the service's own settings of a connection: long lists are larger than a client takes by itself.
  const temporal = lazyClient({ address, namespace, connection: { address, ...(tls && { tls }) } }, {});
  try {
    return await work(new Stage(service, temporal, fleet, simulator, workerMetrics));
  } finally {
    await temporal.connection.close();
    await service.discard();
  }
}

/** Ends the Temporal server that stages on PostgreSQL share. */
export async function endSharedServer(): Promise<void> {
  await (await temporalCluster()).discard();
}
