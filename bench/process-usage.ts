import { readdirSync, readFileSync } from "node:fs";
import { sum } from "./measure";

/** The unit of times in /proc, which Linux fixes for programs whatever the kernel's own clock does. */
const ticksPerSecond = 100;

/** A process as /proc shows it. */
export interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  /** Processor time in ticks: its own, and that of its children that have ended. */
  readonly ticks: number;
}

/** Resident memory of processes, in megabytes. */
export function residentMegabytes(pids: readonly number[]): number {
  return sum(
    pids.map((pid) => {
      const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
      return Number(kilobytes ?? NaN) / 1024;
    }),
  );
}

/**
 * Seconds of one processor that processes and their descendants have used since they began: PostgreSQL works in a child
 * process for each connection.
 */
export function processorSeconds(pids: readonly number[]): number {
  return ticksOfTrees(readProcesses(), pids) / ticksPerSecond;
}

/** How many processors' worth processes have used in a time of so many milliseconds: 0.5 is half of one. */
export async function processorsUsed(pids: readonly number[], milliseconds: number): Promise<number> {
  const [before, began] = [processorSeconds(pids), performance.now()];
  await new Promise((resume) => setTimeout(resume, milliseconds));
  return ((processorSeconds(pids) - before) / (performance.now() - began)) * 1000;
}

/** Ticks of processes and of all their descendants; NaN where one of them does not run. */
export function ticksOfTrees(running: readonly ProcessTimes[], pids: readonly number[]): number {
  const byPid = new Map(running.map((one) => [one.pid, one]));
  const children = new Map<number, number[]>();
  for (const { pid, parent } of running) children.set(parent, [...(children.get(parent) ?? []), pid]);
  const ticksOf = (pid: number): number =>
    (byPid.get(pid)?.ticks ?? NaN) + sum((children.get(pid) ?? []).map((child) => ticksOf(child)));
  return sum(pids.map(ticksOf));
}

/** Reads a line of /proc/PID/stat (proc(5)). */
export function parseStat(line: string): ProcessTimes {
  // The name of the program is in brackets and may hold anything, blanks and brackets too.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const [user = NaN, system = NaN, childrenUser = NaN, childrenSystem = NaN] = fields.slice(11, 15).map(Number);
  return { pid: parseInt(line, 10), parent: Number(fields[1]), ticks: user + system + childrenUser + childrenSystem };
}

function readProcesses(): ProcessTimes[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"))];
      } catch {
        // It has ended since the folder was read.
        return [];
      }
    });
}
