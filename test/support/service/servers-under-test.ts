import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import { serverBundles } from "../catalog-with-servers";
import { type LedgerEntry, ServiceUnderTest } from "./service-under-test";

/** The resource id of a cluster of the default inventory, by the last two digits of it. */
export const cluster = (n: string) => `4a6c1a1e-51b2-4d3c-9e0f-0000000000${n}`;
export const netvirtId = "7b1e40c2-5d0a-4c6e-8f11-000000000001";
export const mgmtId = "9c2f51d3-6e1b-4d7f-a022-000000000001";

const group = (n: string) => `7b1e40c2-5d0a-4c6e-8f11-00000000${n}`;
/** The groups of the simulated upgrade coordinator: two edge clusters, then host clusters. */
export const groups = {
  edge1: group("e001"),
  edge2: group("e002"),
  prod1: group("0008"),
  prod2: group("0021"),
  mgmt: group("0034"),
};

/** What the tests look at of the simulator's state. */
interface SimulatedServers {
  readonly nsxManagers: readonly [
    {
      readonly components: readonly object[];
      readonly groups: readonly { readonly id: string; readonly units: readonly { readonly name: string }[] }[];
    },
  ];
  readonly managementServer: { readonly version: string; readonly migration?: Record<string, unknown> };
}

/** `npm start` with a catalog of the bundles `netvirt` and `mgmt`, and what tests of them ask of it. */
export interface ServersUnderTest {
  service(): ServiceUnderTest;
  simulated(): Promise<SimulatedServers>;
  /** How long a host takes from now on. */
  hostSeconds(seconds: number): Promise<void>;
  /** The lines of the ledger with this step. */
  entries(step: string): Promise<LedgerEntry[]>;
  /** The Task when it has ended, in whatever way. */
  ended(id: string): Promise<Task>;
}

/** Starts the service for a suite, and the simulator anew for each of its tests. */
export function useServers(): ServersUnderTest {
  const folder = mkdtempSync(join(tmpdir(), "ums-catalog-"));
  let started: ServiceUnderTest | undefined;
  const service = () => {
    if (!started) throw new Error("The service is there from the before hooks on");
    return started;
  };
  before(async () => {
    const catalog = join(folder, "bundles.yaml");
    writeFileSync(catalog, JSON.stringify(serverBundles));
    started = await ServiceUnderTest.start({ CATALOG_FILE: catalog, SIMULATOR_HOST_SECONDS: "1" });
  });
  after(async () => {
    await started?.discard();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => service().resetSimulator());
  return {
    service,
    simulated: () => service().simulated<SimulatedServers>(),
    hostSeconds: async (seconds) => {
      const answer = await fetch(`${service().simulatorUrl}/simulator/settings`, {
        method: "PATCH",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ hostSeconds: seconds }),
      });
      if (!answer.ok) throw new Error(`The simulator refused the setting: ${await answer.text()}`);
    },
    entries: async (step) => (await service().ledger()).filter((entry) => entry.step === step),
    ended: (id) => service().taskWhen(id, "has ended", ({ status }) => !/Pending|In Progress/.test(status), 120),
  };
}

/** A request to upgrade one cluster's servers now. */
export function request(bundleId: string, more: object = {}) {
  return {
    bundleId,
    resourceType: "CLUSTER",
    resourceUpgradeSpecs: [{ resourceId: cluster("08"), upgradeNow: true }],
    ...more,
  };
}

/** A part of a Task with all of its own parts. */
export function flat(parts: readonly SubTask[] = []): SubTask[] {
  return parts.flatMap((part) => [part, ...flat(part.subTasks)]);
}

/** All parts of a Task of this type. */
export function partsOf(task: Task, type: string): SubTask[] {
  return flat(task.subTasks).filter((part) => part.type === type);
}
