import { createHash } from "node:crypto";
import { v4, v5 } from "uuid";
import type { Identities } from "../upgrades/ports";

/** Namespace of the ids that are made from an Idempotency-Key; changing it would make every key new. */
const namespace = "6f1d3c52-8f7b-4a86-9d3b-3a1f7c0e5b21";

/** Time, ids and digests of this process. */
export const systemIdentities: Identities = {
  now: () => Date.now(),
  newId: () => v4(),
  // Neither part can hold a NUL, so two different pairs never read the same.
  idFor: (caller, idempotencyKey) => v5(`${caller}\u0000${idempotencyKey}`, namespace),
  digest: (value) => createHash("sha256").update(canonicalJson(value)).digest("hex"),
};

/** JSON in which the order of an object's fields says nothing. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
