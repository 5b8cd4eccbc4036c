import { lostWorkerCells } from "./lost-worker/lost-worker-cells";
import { TwoWorkers } from "./lost-worker/two-workers";

/** Freezes a process. */
function freeze(pid: number): Promise<() => Promise<void>> {
  process.kill(pid, "SIGSTOP");
  return Promise.resolve(() => {
    process.kill(pid, "SIGCONT");
    return Promise.resolve();
  });
}

describe("A worker that is frozen, replaced and woken changes nothing more while it", function () {
  this.timeout(20 * 60_000);
  lostWorkerCells({
    moments: ["REFUSED", "CANCELLED", "BUSY"],
    oneOf: 4,
    suite: "resilience/crash",
    startLane: async () => ({ workers: await TwoWorkers.start(), lose: () => freeze }),
  });
});
