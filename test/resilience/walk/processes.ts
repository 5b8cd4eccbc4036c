import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pauseFor } from "node:timers/promises";
import type { ProcessName } from "../../support/service/deployment";
import type { MemoryReports } from "../../support/memory-reports";
import type { ServiceUnderTest } from "../../support/service/service-under-test";

/** What a process holds. */
export interface Held {
  readonly name: ProcessName;
  readonly pid: number;
  /** What it uses, its garbage left out, in MiB; of a worker without the threads that its Workflows run in. */
  readonly used: number;
  /** Resident memory, in MiB. */
  readonly memory: number;
  /** Open files and sockets. */
  readonly files: number;
}

/**
 * What the API and worker processes hold at rest: of some looks the least of each, since freed memory and idle
 * connections go when they go.
 */
export async function heldAtRest(
  service: ServiceUnderTest,
  reports: MemoryReports,
  looks = 8,
): Promise<readonly Held[]> {
  const used = new Map<number, number>();
  for (const { pid } of held(service)) used.set(pid, (await reports.used(pid)) / 2 ** 20);
  let least = held(service);
  for (let i = 1; i < looks; i++) {
    await pauseFor(1_000);
    const now = held(service);
    least = least.flatMap((before) => {
      const after = now.find(({ pid }) => pid === before.pid);
      return after
        ? [{ ...before, memory: Math.min(before.memory, after.memory), files: Math.min(before.files, after.files) }]
        : [];
    });
  }
  return least.map((one) => ({ ...one, used: used.get(one.pid) ?? NaN }));
}

function held(service: ServiceUnderTest): Omit<Held, "used">[] {
  const processes = service.processes();
  return (["api", "worker"] as const).flatMap((name) =>
    (processes[name] ?? []).map((pid) => ({
      ...{ name, pid, files: readdirSync(`/proc/${pid}/fd`).length },
      memory: Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024,
    })),
  );
}
