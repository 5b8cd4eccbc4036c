import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Toxiproxy } from "../test/resilience/network/toxiproxy";
import { KeptAlive } from "../test/e2e/production/kept-alive";
import { temporalCluster } from "../test/e2e/production/temporal-cluster";
import { freePorts, withoutTemporal } from "../test/support/service/deployment";
import type { Fixture, ServerChoice } from "./fixture";

const root = resolve(__dirname, "..");

/** One more API process, and the way to Temporal that it takes. */
export interface DistantApi {
  readonly url: string;
  /** The address of Temporal for a client that is as far away. */
  readonly temporalAddress: string;
}

/** Starts one more API process, so many milliseconds from Temporal in each direction, for as long as `work` takes. */
export async function withDistantApi<A>(
  fixture: Fixture,
  { postgres }: ServerChoice,
  milliseconds: number,
  work: (api: DistantApi) => Promise<A>,
): Promise<A> {
  const folder = mkdtempSync(join(tmpdir(), "ums-distant-"));
  const toxiproxy = await Toxiproxy.start(1);
  const { address, namespace } = fixture.service.temporalPlace;
  const { api: port } = await freePorts("api");
  try {
    const proxy = await toxiproxy.before("temporal", address);
    for (const stream of ["upstream", "downstream"] as const)
      await proxy.add({ type: "latency", stream, attributes: { latency: milliseconds } });
    const temporalAddress = `127.0.0.1:${proxy.port}`;
    const api = new KeptAlive({
      what: "the distant API",
      program: process.execPath,
      args: [join(root, "dist/src/main.js"), "api"],
      options: {
        cwd: folder,
        env: {
          ...withoutTemporal(process.env),
          ...(postgres && (await temporalCluster()).certificates.client),
          TEMPORAL_ADDRESS: temporalAddress,
          TEMPORAL_NAMESPACE: namespace,
          API_PORT: String(port),
          DATA_DIR: folder,
          ...fixture.fleet.variables,
        },
      },
      isUp: () =>
        fetch(`http://127.0.0.1:${port}/health/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
    });
    try {
      await api.start();
      return await work({ url: `http://127.0.0.1:${port}`, temporalAddress });
    } finally {
      await api.stop();
    }
  } finally {
    await toxiproxy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
