import { createHash } from "node:crypto";

/** Numbers from 0 to 1 that a seed and a name decide, the same on every machine. */
export function seeded(seed: number, name: string): () => number {
  let drawn = 0;
  return () => createHash("sha256").update(`${seed} ${name} ${drawn++}`).digest().readUInt32BE() / 2 ** 32;
}
