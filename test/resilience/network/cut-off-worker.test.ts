import { lostWorkerCells } from "../crash/lost-worker/lost-worker-cells";
import { TwoWorkers } from "../crash/lost-worker/two-workers";
import { databaseProxy } from "./database-proxy";
import { Toxiproxy, type Proxy } from "./toxiproxy";

describe("A worker that is cut off from Temporal alone, and replaced, changes nothing more while it", function () {
  this.timeout(20 * 60_000);
  let toxiproxy: Toxiproxy;

  before(async () => {
    await databaseProxy();
    toxiproxy = await Toxiproxy.start(1);
  });
  lostWorkerCells({
    moments: ["REFUSED", "CANCELLED", "BUSY"],
    oneOf: 6,
    suite: "resilience/network",
    startLane: async (index) => {
      const proxies: Proxy[] = [];
      const workers = await TwoWorkers.start(async (temporal) => {
        for (const worker of [1, 2]) proxies.push(await toxiproxy.before(`cut-${index}-worker-${worker}`, temporal));
        return { api: {}, worker: proxies.map(({ port }) => ({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` })) };
      });
      const proxyOf = (pid: number) => {
        const proxy = proxies[workers.service.processes().worker?.indexOf(pid) ?? -1];
        if (!proxy) throw new Error(`No worker has the process id ${pid}`);
        return proxy;
      };
      return {
        workers,
        lose: () => async (pid) => {
          const proxy = proxyOf(pid);
          for (const stream of ["upstream", "downstream"] as const)
            await proxy.add({ type: "timeout", stream, attributes: { timeout: 0 } });
          return () => proxy.heal();
        },
      };
    },
    end: () => toxiproxy.stop(),
  });
});
