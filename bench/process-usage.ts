import { readFileSync } from "node:fs";

/** The unit of times in /proc, which Linux fixes for programs whatever the kernel's own clock does. */
const ticksPerSecond = 100;

/** Resident memory of processes, in megabytes. */
export function residentMegabytes(pids: readonly number[]): number {
  return sum(pids, (pid) => {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes ?? NaN) / 1024;
  });
}

/** Seconds of one processor that processes have used since they began. */
export function processorSeconds(pids: readonly number[]): number {
  return sum(pids, (pid) => {
    // The name of the program is in brackets and may hold anything, blanks too.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  });
}

/** How many processors' worth processes have used in a time of so many milliseconds: 0.5 is half of one. */
export async function processorsUsed(pids: readonly number[], milliseconds: number): Promise<number> {
  const [before, began] = [processorSeconds(pids), performance.now()];
  await new Promise((resume) => setTimeout(resume, milliseconds));
  return ((processorSeconds(pids) - before) / (performance.now() - began)) * 1000;
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((all, pid) => all + of(pid), 0);
}
