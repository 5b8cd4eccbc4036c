import { setFlagsFromString } from "node:v8";

/**
 * Lets V8 collect what a process no longer uses once its heap is twice what was in use after the last time, instead of up to
 * four times. Heaps that are made after it, of threads, follow it too (docs/decisions/0035).
 */
export function limitHeapGrowth(): void {
  setFlagsFromString("--heap-growing-percent=100");
}
