import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import { ServiceUnderTest } from "../test/system/service-under-test";
import { makeFleet, type Fleet } from "./fleet";

/** The service on a fleet of its own, and a Temporal client of the same server for references. */
export interface Stage {
  readonly service: ServiceUnderTest;
  readonly temporal: Client;
  readonly fleet: Fleet;
}

/** Starts the service on a fleet, lets `work` measure it, and removes both. */
export async function onStage<A>(
  size: { readonly clusters: number; readonly hosts: number; readonly variables?: Readonly<Record<string, string>> },
  work: (stage: Stage) => Promise<A>,
): Promise<A> {
  const folder = mkdtempSync(join(tmpdir(), "ums-bench-"));
  const fleet = makeFleet(folder, size.clusters, size.hosts);
  const service = await ServiceUnderTest.start({
    SIMULATOR_HOST_SECONDS: "0",
    ...fleet.variables,
    ...size.variables,
  });
  try {
    return await service.withTemporal((temporal) => work({ service, temporal, fleet }));
  } finally {
    await service.discard();
    rmSync(folder, { recursive: true, force: true });
  }
}
